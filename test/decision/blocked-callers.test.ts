/** A blocked user is refused with every credential that names the user, on a running gateway. */

import t from 'tap'
import { startWorld } from '../support/world.ts'

const world = await startWorld(t, {
  routes: ['GET /list: trainings:list', 'GET /me: authenticated', 'GET /open: public'],
})
await world.seat('Viewer', ['s1'], ['trainings:list'])

const bearer = async (sub: string, more: { now?: number; tenant?: string } = {}) => ({
  authorization: `Bearer ${await world.token(['s1:Viewer'], { sub, ...more })}`,
  space: 's1',
})
const ask = async (path: string, headers: Record<string, string>) => {
  const answer = await world.client.send('GET', path, headers)
  return answer.status < 300 ? 'allow' : `${answer.status} ${answer.json.code}`
}
const block = async (user: string, more: Record<string, unknown> = {}) => {
  const answer = await world.admin('POST', '/v1/blocks', { user, ...more })
  if (answer.status !== 200) throw new Error(answer.body)
  return answer.json.id as string
}

t.test('on every route that reads a credential, with every token', async (t) => {
  const [eve, again, alice] = [await bearer('eve'), await bearer('eve'), await bearer('alice')]
  t.equal(await ask('/list', eve), 'allow')
  const id = await block('eve')
  for (const headers of [eve, again, await bearer('eve')]) {
    t.equal(await ask('/list', headers), '403 caller_blocked')
    t.equal(await ask('/me', headers), '403 caller_blocked')
    t.equal(await ask('/open', headers), 'allow', 'a public route reads no credential')
  }
  t.equal(await ask('/list', alice), 'allow')
  t.equal((await world.admin('DELETE', `/v1/blocks/${id}`)).status, 204)
  t.equal(await ask('/list', eve), 'allow')
})

t.test('the refusal does not tell who blocked, or why', async (t) => {
  await block('mallory', { reason: 'stole the silver' })
  const answer = await world.client.send('GET', '/me', await bearer('mallory'))
  t.notMatch(answer.body, /silver/)
  t.notMatch(world.logText(), /silver/)
})

t.test('an expired or forged token of a blocked user stays 401', async (t) => {
  await block('old')
  t.equal(await ask('/me', await bearer('old', { now: Date.now() - 86_400_000 * 400 })), '401 token_expired')
  const { authorization, space } = await bearer('old')
  const forged = `${authorization.slice(0, -2)}${authorization.endsWith('AA') ? 'BB' : 'AA'}`
  t.equal(await ask('/me', { authorization: forged, space }), '401 token_invalid')
})

t.test('a user of another tenant, and another spelling, are others', async (t) => {
  await block('carol')
  t.equal(await ask('/me', await bearer('carol', { tenant: 'globex' })), 'allow')
  t.equal(await ask('/me', await bearer('Carol')), 'allow')
})

t.test('an API key is not a user, whatever the block names', async (t) => {
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'K', seats: ['Viewer'] })
  await block(json.id)
  t.equal(await ask('/list', { 'x-api-key': json.key, space: 's1' }), 'allow')
})

t.test('a block that ends', async (t) => {
  const eve = await bearer('frank')
  await block('frank', { until: new Date(Date.now() + 1500).toISOString() })
  t.equal(await ask('/me', eve), '403 caller_blocked')
  while ((await ask('/me', eve)) !== 'allow') await new Promise((resolve) => setTimeout(resolve, 50))
  t.same(
    (await world.admin('GET', '/v1/blocks')).json.data.filter(
      ({ user }: { user: string }) => user === 'frank',
    ),
    [],
  )
})

t.test('a block outlives the gateway', async (t) => {
  await block('grace')
  await world.reload()
  t.equal(await ask('/me', await bearer('grace')), '403 caller_blocked')
})
