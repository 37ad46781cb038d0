/** Envoy gets the signed identity, and removes what the client has sent in its place. */

import t from 'tap'
import { keyFile, verified } from '../../identity/support.ts'
import { deniedResponse, forwardedHeaders, startEnvoy } from './envoy.ts'

const FORGED = 'eyJmb3JnZWQ.e30.'

for (const header of ['x-seatgate-jwt', 'x-acme-identity'])
  t.test(header, async (t) => {
    const top = [`identity: { header: ${header}, lifetime: 5m, keys: [${keyFile(t)}] }`]
    const { envoy, headers, keyId, world } = await startEnvoy(t, { top })
    const keySet = (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).body
    const odd = header.replaceAll('-', '_')
    const forged = [[header, FORGED] as const, [odd, FORGED] as const]
    for (const isRaw of [true, false]) {
      const request = { headers: [...headers, ...forged] }
      const forwarded = forwardedHeaders(request, await envoy.check(request, isRaw)) ?? new Map()
      const values = forwarded.get(header) ?? []
      t.equal(values.length, 1)
      t.match(await verified(String(values[0]), keySet, 'main'), { sub: keyId, permission: 'trainings:read' })
      t.notOk(forwarded.has(odd))

      const open = { path: '/docs/a', headers: forged }
      const public_ = forwardedHeaders(open, await envoy.check(open, isRaw)) ?? new Map()
      t.same([public_.get(header), public_.has(odd)], [[''], false], 'a public route')

      const refused = deniedResponse(await envoy.check({ ...request, method: 'DELETE' }, isRaw))
      t.equal(refused.status, 403)
      t.notOk(header in refused.headers)
    }
  })
