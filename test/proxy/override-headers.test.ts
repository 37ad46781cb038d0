/**
 * CVE-2026-40575 (oauth2-proxy), CVE-2023-27487 (Envoy): a header named another path or method than the checked one,
 * and the application behind trusted it.
 */

import t from 'tap'
import { get, seenBy, valuesOf } from './support.ts'

const names = [
  'X-Original-URL',
  'X-Original-URI',
  'X-Original-Path',
  'X-Original-Method',
  'X-Rewrite-URL',
  'X-HTTP-Method-Override',
  'X-HTTP-Method',
  'X-Method-Override',
  'X-Forwarded-Uri',
  'X-Forwarded-Method',
  'X-Envoy-Original-Path',
  'X-WAWS-Unencoded-URL',
  'SCRIPT_NAME',
  'Path-Info',
]

for (const name of names) {
  t.test(name, async (t) => {
    const line = `${name}: /admin`
    t.notMatch(await seenBy(t, get(line)), '/admin', 'dropped')
    t.notMatch(
      await seenBy(t, get(line), { trustedProxies: ['127.0.0.1'] }),
      '/admin',
      'dropped for every peer',
    )
  })
}

t.test('pass_overrides keeps them', async (t) => {
  const seen = await seenBy(t, get('X-Original-URL: /admin', 'x-http-method-override: PUT'), {
    passOverrides: true,
  })
  t.same(valuesOf(seen, 'x-original-url'), ['/admin'])
  t.same(valuesOf(seen, 'x-http-method-override'), ['PUT'])
})
