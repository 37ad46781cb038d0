/**
 * Tokens signed by the tenant's provider, as bearer tokens on a whole gateway: accepted only where the tenant enables
 * them.
 */

import t from 'tap'
import { idTokenOf } from './id-token.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t)
const seat = await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Viewer', 'Nobody'] })
const visitor = world.visitor()
const token = await idTokenOf(visitor, world.acme)

t.test('refused by default', async (t) => {
  t.match((await visitor.ask('/v1/me', { token })).json, { status: 401, code: 'token_invalid' })
})

t.test('accepted where the tenant enables them', async (t) => {
  await world.configure({ acme: { acceptProviderTokens: true } })
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main' })).status, 200)
  t.match(world.gateway.upstream.seen.at(-1)?.headers, {
    'x-seatgate-tenant': 'acme',
    'x-seatgate-user': 'alice',
    'x-seatgate-seats': 'Viewer',
    'x-seatgate-auth': 'bearer',
  })
  t.notOk('authorization' in (world.gateway.upstream.seen.at(-1)?.headers ?? {}))
  const elsewhere = await visitor.ask('/v1/trainings', { token, space: 'other' })
  t.match(elsewhere, { status: 403, json: { code: 'no_seat_in_space' } })
  const write = await visitor.ask('/v1/trainings', { token, space: 'main', method: 'POST' })
  t.equal(write.json.code, 'permission_denied')
  t.equal((await visitor.ask('/v1/me', { token: `${token}A` })).status, 401)
})

t.test('its Seats are looked up at each request', async (t) => {
  await world.gateway.admin('PUT', `/v1/seats/${seat}`, { spaces: ['other'] })
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main' })).status, 403)
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'other' })).status, 200)
  await world.gateway.admin('PUT', `/v1/seats/${seat}`, { spaces: ['main'] })
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main' })).status, 200)
})

t.test('tokens of the gateway stay valid', async (t) => {
  const own = (await visitor.signIn()).json.access_token
  t.equal((await visitor.ask('/v1/trainings', { token: own, space: 'main' })).status, 200)
})

t.test('tokens for another client, and of another provider', async (t) => {
  world.user('alice', { memberOf: ['Viewer'] }, world.globex)
  const foreign = await idTokenOf(world.visitor(), world.globex)
  t.equal(
    (await visitor.ask('/v1/me', { token: foreign })).status,
    401,
    'a tenant that accepts no provider tokens',
  )
  await world.configure({ acme: { acceptProviderTokens: true, clientId: 'client_secret_basic-ES256' } })
  t.equal((await visitor.ask('/v1/me', { token })).status, 401, 'another client id')
  const audience = [world.acme.config().clientId]
  await world.configure({
    acme: { acceptProviderTokens: true, clientId: 'client_secret_basic-ES256', audience },
  })
  t.equal((await visitor.ask('/v1/me', { token })).status, 200, 'except where the audience is configured')
})

t.test('refused again once it is disabled', async (t) => {
  await world.configure()
  t.equal((await visitor.ask('/v1/me', { token })).status, 401)
})

t.test('key rotation at the provider', async (t) => {
  await world.configure({ acme: { acceptProviderTokens: true } })
  t.equal((await visitor.ask('/v1/me', { token })).status, 200)
  await world.acme.rotateKeys()
  const other = world.visitor()
  const fresh = await idTokenOf(other, world.acme)
  t.equal((await other.signIn()).status, 200, 'a sign-in causes a read of the keys')
  t.equal((await visitor.ask('/v1/me', { token: fresh })).status, 200)
  t.equal((await visitor.ask('/v1/me', { token: `${token.slice(0, -8)}AAAAAAAA` })).status, 401)
})
