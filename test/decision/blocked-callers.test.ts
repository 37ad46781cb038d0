/** A blocked user is refused with every credential that names the user, on a running gateway. */

import { SignJWT } from 'jose'
import t from 'tap'
import { done, writer } from '../seats-admin/store/conformance.ts'
import { open } from '../seats-admin/store/sqlite/support.ts'
import { startBlocking } from './blocking.ts'

const HOUR = 3_600_000
const { world, bearer, ask, block, blockedUsers } = await startBlocking(t)

t.test('on every route that reads a credential, with every token', async (t) => {
  const [eve, again, alice] = [await bearer('eve'), await bearer('eve'), await bearer('alice')]
  t.equal(await ask('/list', eve), 'allow')
  const id = await block('eve')
  for (const headers of [eve, again, await bearer('eve')]) {
    t.equal(await ask('/list', headers), '403 caller_blocked')
    t.equal(await ask('/me', headers), '403 caller_blocked')
    t.equal(await ask('/open', headers), 'allow', 'a public route reads no credential')
  }
  const line = world.log().findLast(({ code }) => code === 'caller_blocked')
  t.match(line, { user: 'eve', space: eve.space, seats: [/:named$/] }, 'what the request asked for')
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

t.test('a user whose sub fills the token', async (t) => {
  const { secrets, algorithm } = world.tenant('acme').token
  const [secret] = secrets
  if (secret === undefined) throw new Error('the tenant has no secret')
  // A token has 16,384 characters at most: of these three quarters are claims.
  const sub = 'x'.repeat(12_000)
  const token = await new SignJWT({ sub, tenant_id: 'acme' })
    .setProtectedHeader({ alg: algorithm })
    .setExpirationTime('1h')
    .sign(secret)
  const headers = { authorization: `Bearer ${token}` }
  t.equal(await ask('/me', headers), 'allow')
  await block(sub)
  t.equal(await ask('/me', headers), '403 caller_blocked')
})

t.test('an API key is not a user, whatever the block names', async (t) => {
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'K', seats: ['Viewer'] })
  await block(json.id)
  t.equal(await ask('/list', { 'x-api-key': json.key, space: 's1' }), 'allow')
})

t.test('a block with an end: until then, and not after it', async (t) => {
  const store = await open(t, { path: world.storeFile })
  const past = { user: 'henry', until: Date.now() - 1, reason: null }
  done(await store.createBlock(writer(), past))
  // Its announcement has the gateway read the blocks again.
  await block('frank', { until: new Date(Date.now() + HOUR).toISOString() })
  t.equal(await ask('/me', await bearer('frank')), '403 caller_blocked')
  t.equal(await ask('/me', await bearer('henry')), 'allow')
  const users = await blockedUsers()
  t.ok(users.includes('frank'))
  t.notOk(users.includes('henry'))
})

t.test('a block outlives the gateway', async (t) => {
  await block('grace')
  await world.reload()
  t.equal(await ask('/me', await bearer('grace')), '403 caller_blocked')
})
