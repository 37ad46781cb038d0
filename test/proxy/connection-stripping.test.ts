/**
 * CVE-2024-45410 and CVE-2026-29054 (Traefik), CVE-2025-48865 (Fabio), GHSA-w9mr-28mw-j8hg (Oathkeeper), c815dc4
 * (reply-from): the client's Connection header made the proxy, or the next hop, drop the proxy's own headers.
 */

import t from 'tap'
import { fieldsOf, seenBy, valuesOf } from './support.ts'

function request(...lines: string[]): string {
  return ['POST / HTTP/1.1', 'Host: gw.example', ...lines, 'Content-Length: 2', '', 'ok'].join('\r\n')
}

const OURS = [
  'x-seatgate-auth',
  'x-seatgate-tenant',
  'x-seatgate-user',
  'x-seatgate-email',
  'x-seatgate-space',
  'x-seatgate-permission',
  'x-seatgate-seats',
  'x-request-id',
  'x-forwarded-for',
  'x-forwarded-proto',
  'x-forwarded-host',
]

for (const spell of [
  (name: string) => name,
  (name: string) => name.toUpperCase(),
  (name: string) => name.replaceAll('-', '_'),
]) {
  t.test(`the gateway's fields stay, named as ${spell('x-seatgate-user')}`, async (t) => {
    const seen = await seenBy(t, request(`Connection: close, ${OURS.map(spell).join(' , ')}`))
    const names = fieldsOf(seen).map(([name]) => name)
    for (const name of OURS) t.ok(names.includes(name), name)
    // The next hop must not be told to drop them either.
    t.same(valuesOf(seen, 'connection'), [])
  })
}

t.test("the client's fields are removed, over several lines and in any case", async (t) => {
  const seen = await seenBy(
    t,
    request(
      'X-One: 1',
      'Connection: X-ONE,, x-two',
      'x-two: 2',
      'X_Three: 3',
      'CONNECTION: close,x-Three\t',
      'X-Four: 4',
    ),
  )
  t.notMatch(seen, /x.one|x.two|x.three/i)
  t.same(valuesOf(seen, 'x-four'), ['4'])
})

t.test('Connection can remove neither the length of the body nor the Host', async (t) => {
  const seen = await seenBy(t, request('Connection: close, content-length, host, transfer-encoding'))
  t.same(valuesOf(seen, 'content-length'), ['2'])
  t.equal(valuesOf(seen, 'host').length, 1)
  t.ok(seen.endsWith('\r\n\r\nok'))
})

t.test('fields of a trusted proxy are continued, named or not', async (t) => {
  const seen = await seenBy(t, request('X-Forwarded-For: 192.0.2.1', 'Connection: close, X-Forwarded-For'), {
    trustedProxies: ['127.0.0.1'],
  })
  t.same(valuesOf(seen, 'x-forwarded-for'), ['192.0.2.1, 127.0.0.1'])
})
