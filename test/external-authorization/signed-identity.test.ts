/** Answers to other proxies carry the signed identity, as requests that the gateway forwards do. */

import t from 'tap'
import { HEADER, keyFile, verified } from '../identity/support.ts'
import { type Asking, forwardFields, nginxFields, startAsking } from './support.ts'

const FIELDS = { '/auth/nginx': nginxFields, '/auth/forward': forwardFields } as const
const top = [`identity: { lifetime: 5m, keys: [${keyFile(t)}] }`]
const asking = await startAsking(t, {
  top,
  beside: { name: 'billing', upstream: [], routes: ['GET /v1/bills: authenticated'] },
})

async function keySetOf({ world }: Asking): Promise<string> {
  return (await world.client.send('GET', '/.well-known/seatgate/jwks.json')).body
}

for (const path of ['/auth/nginx', '/auth/forward'] as const)
  t.test(path, async (t) => {
    const keySet = await keySetOf(asking)
    const credential = { 'x-api-key': asking.key, space: 'main' }
    const ask = (target: string, more: Record<string, string> = credential) =>
      asking.ask(path, { ...FIELDS[path]('GET', target), ...more })
    const { status, headers } = await ask('/v1/trainings/7')
    t.equal(status, 200)
    const claims = await verified(String(headers[HEADER]), keySet, 'main')
    t.match(claims, { sub: asking.keyId, tenant: 'acme', space: 'main', seats: ['reader'], auth: 'api-key' })
    const bill = await ask('/v1/bills')
    t.equal((await verified(String(bill.headers[HEADER]), keySet, 'billing')).sub, asking.keyId)

    const forged = { ...credential, [HEADER]: 'eyJmb3JnZWQ.e30.', x_seatgate_jwt: 'eyJmb3JnZWQ.e30.' }
    const again = await ask('/v1/trainings/7', forged)
    t.equal((await verified(String(again.headers[HEADER]), keySet, 'main')).sub, asking.keyId)
    const open = await ask('/docs/a', forged)
    t.strictSame([open.status, open.headers[HEADER]], [200, ''], 'the proxy overwrites what the client sent')
    const refused = await ask('/v1/trainings/7', { ...credential, space: 'other' })
    t.strictSame([refused.status, refused.headers[HEADER]], [403, undefined])
  })

t.test('it is the one that the gateway sends itself', async (t) => {
  const { world, ask, key } = asking
  const credential = { 'x-api-key': key, space: 'main' }
  const { headers } = await ask('/auth/nginx', { ...nginxFields('GET', '/v1/trainings/9'), ...credential })
  await world.client.send('GET', '/v1/trainings/9', credential)
  t.equal(world.upstream.seen.at(-1)?.headers[HEADER], headers[HEADER])
})

t.test('without identity the answer has no such header', async (t) => {
  const { ask } = await startAsking(t)
  const { status, headers } = await ask('/auth/nginx', nginxFields('GET', '/docs/a'))
  t.strictSame([status, HEADER in headers], [200, false])
})
