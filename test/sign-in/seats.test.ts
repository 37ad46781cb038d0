/** Seats and their members: which users count as members, and the effect of changes of a Seat on them. */

import t from 'tap'
import { until } from '../support/until.ts'
import { startSignIn, type SignInWorld } from './world.ts'

const world = await startSignIn(t)

async function members(of: SignInWorld, name: string, tenant = 'acme'): Promise<number> {
  const { json } = await of.gateway.admin('GET', '/v1/seats?limit=100', undefined, tenant)
  return json.data.find((seat: { name: string }) => seat.name === name)?.member_count
}

t.test('member_count: distinct users whose latest sign-in carried the Seat', async (t) => {
  await world.gateway.seat('Reader', ['main'], ['trainings:list'])
  await world.gateway.seat('Writer', ['main'], ['trainings:create'])
  await world.gateway.seat('Reader', ['main'], ['trainings:list'], 'globex')
  const counts = async () => [await members(world, 'Reader'), await members(world, 'Writer')]
  t.same(await counts(), [0, 0])

  for (const name of ['alice', 'bob']) world.user(name, { memberOf: ['Reader'] })
  world.user('carol', { memberOf: ['Reader', 'Writer'] })
  for (const name of ['alice', 'bob', 'carol']) await world.visitor(name).signIn()
  t.same(await counts(), [3, 1])
  await world.visitor('alice').signIn()
  await world.visitor('alice').page('/pages/a')
  t.same(await counts(), [3, 1], 'repeated sign-ins count as one user')

  world.user('alice', { memberOf: ['Writer'] })
  await world.visitor('alice').signIn()
  t.same(await counts(), [2, 2], 'the latest sign-in')
  const bob = world.visitor('bob')
  const { refresh_token } = (await bob.signIn()).json
  world.user('bob', { memberOf: [] })
  await bob.refresh(refresh_token)
  t.same(await counts(), [1, 2], 'also at a refresh')
  t.equal(await members(world, 'Reader', 'globex'), 0, 'other tenants are unaffected')
})

t.test('a change of a Seat applies at once to tokens and sessions', async (t) => {
  const id = await world.gateway.seat('Auditor', ['main'], ['trainings:list'])
  world.user('dora', { memberOf: ['Auditor'] })
  const program = world.visitor('dora')
  const token = (await program.signIn()).json.access_token
  const browser = world.visitor('dora')
  await browser.page('/pages/a')
  const both = async (method = 'GET') => [
    (await program.ask('/v1/trainings', { token, space: 'main', method })).status,
    (await browser.ask('/v1/trainings', { space: 'main', method, headers: { origin: world.origin } })).status,
  ]
  t.same(await both(), [200, 200])
  t.same(await both('POST'), [403, 403])
  await world.gateway.admin('PUT', `/v1/seats/${id}`, { permissions: ['trainings:create'] })
  t.same(await both(), [403, 403], 'one permission less')
  t.same(await both('POST'), [200, 200], 'one permission more')
  await world.gateway.admin('PUT', `/v1/seats/${id}`, { spaces: ['other'] })
  t.same(await both('POST'), [403, 403], 'one space less')
  await world.gateway.admin('PUT', `/v1/seats/${id}`, { spaces: ['main'] })
  t.same(await both('POST'), [200, 200])
  await world.gateway.admin('DELETE', `/v1/seats/${id}`)
  t.same(await both('POST'), [403, 403], 'deleted')
  await world.gateway.seat('Auditor', ['main'], ['trainings:create'])
  t.same(await both('POST'), [403, 403], 'a new Seat of the same name is not the Seat of their sign-in')
})

t.test('a sign-in after a name is reused has the new Seat', async (t) => {
  const id = await world.gateway.seat('Pilot', ['main'], ['trainings:list'])
  await world.gateway.admin('DELETE', `/v1/seats/${id}`)
  await world.gateway.seat('Pilot', ['main'], ['trainings:create'])
  world.user('erin', { memberOf: ['Pilot'] })
  const visitor = world.visitor('erin')
  // Times of issue are whole seconds: a token of the second in which the name was given up gains nothing.
  const second = () => Math.floor(Date.now() / 1000)
  const givenUp = second()
  await until(
    () => second() > givenUp,
    () => 'the clock stands still',
  )
  const token = (await visitor.signIn()).json.access_token
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'main', method: 'POST' })).status, 200)
})

t.test('a blocked user does not sign in, and does again once unblocked', async (t) => {
  world.user('mallory', {})
  const { json: block } = await world.gateway.admin('POST', '/v1/blocks', { user: 'mallory' })
  const program = await world.visitor('mallory').signIn()
  t.match([program.status, program.json.code], [403, 'caller_blocked'])
  const browser = world.visitor('mallory')
  const page = await browser.page('/pages/a')
  t.equal(page.status, 403)
  t.match(page.body, /<p>An administrator or the identity provider has blocked this user\.<\/p>/)
  t.equal((await browser.ask('/v1/me')).status, 401, 'there is no session')
  const { json: users } = await world.gateway.admin('GET', '/v1/users?q=mallory')
  t.same(users.data, [], 'the sign-in left no trace among the users')
  t.match(world.events('sign_in_failed').at(-1), { tenant: 'acme', user: 'mallory' })

  t.equal((await world.gateway.admin('DELETE', `/v1/blocks/${block.id}`)).status, 204)
  t.equal((await world.visitor('mallory').signIn()).status, 200)
})

t.test('a blocked user refreshes no token, and does again once unblocked', async (t) => {
  world.user('rita', {})
  const program = world.visitor('rita')
  const { refresh_token: handle } = (await program.signIn()).json
  const { json: block } = await world.gateway.admin('POST', '/v1/blocks', { user: 'rita' })
  t.match((await program.refresh(handle)).json, { status: 403, code: 'caller_blocked' })
  await world.gateway.admin('DELETE', `/v1/blocks/${block.id}`)
  const { access_token: token } = (await program.refresh(handle)).json
  t.equal((await program.ask('/v1/me', { token })).status, 200, 'without another sign-in')
})

t.test('each line that a sign-in causes has the id of its request', async (t) => {
  world.user('nell', {})
  const browser = world.visitor('nell')
  const callback = (await browser.answer()).href
  const signedIn = await browser.send(callback)
  t.equal(world.events('signed_in').at(-1)?.['request_id'], signedIn.headers['x-request-id'])
  const again = world.visitor('nell')
  const begun = await again.answer()
  begun.searchParams.delete('code')
  begun.searchParams.set('error', 'access_denied')
  const failed = await again.send(begun.href)
  t.equal(failed.status, 401)
  t.match(world.events('sign_in_failed').at(-1), {
    tenant: 'acme',
    request_id: failed.headers['x-request-id'],
  })
})
