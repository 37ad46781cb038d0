/** A credential that ends within an open call: status 16, as for any other fault of a credential. */

import { once } from 'node:events'
import t, { type Test } from 'tap'
import { type Caller, whole } from './client.ts'
import { seatForAll, startGrpcWorld } from './world.ts'

const { world, talk, caller } = await startGrpcWorld(t)
const seats = await seatForAll(world)

async function endsWith16(t: Test, client: Caller, code: string, end: () => Promise<unknown>): Promise<void> {
  const call = client.chat()
  const ended = whole(call)
  call.write('a')
  await once(call, 'data')
  const cancelled = talk.cancellation('Chat')
  await end()
  const { messages, status } = await ended
  t.same(messages, ['a!'])
  t.equal(status.code, 16)
  t.match(status.details, new RegExp(`^${code}: `))
  t.equal(await cancelled, 'Chat', 'the service learns it')
  t.equal((await client.unary('b')).status.code, 16, 'a new call too')
}

t.test('an API key is revoked', async (t) => {
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'K', seats: ['Talker'] })
  const client = await caller(null, { 'x-api-key': json.key, space: 'north' })
  await endsWith16(t, client, 'api_key_revoked', () => world.admin('DELETE', `/v1/api-keys/${json.id}`))
})

t.test('a token expires', async (t) => {
  // With ten seconds left.
  const now = Date.now() + 10_000 - world.tenant('acme').token.lifetime
  const token = await world.token(seats, { now })
  const client = await caller(null, { authorization: `Bearer ${token}`, space: 'north' })
  await endsWith16(t, client, 'token_expired', async () => {})
})
