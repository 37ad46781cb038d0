/** A browser's session over time: its Seats are mapped again when a token would have expired. */

import t from 'tap'
import { NAVIGATION } from './visitor.ts'
import { until } from '../support/until.ts'
import { moveClock } from './moving-clock.ts'
import { startSignIn } from './world.ts'

/** ms that a token is valid */
const LIFETIME = 3_600_000
const clock = moveClock(t)
const world = await startSignIn(t)
await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
await world.gateway.seat('Editor', ['main'], ['trainings:create'])

t.test('changes at the provider', async (t) => {
  world.user('alice', { memberOf: ['Viewer'] })
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const status = async () => (await visitor.ask('/v1/trainings', { space: 'main' })).status
  t.equal(await status(), 200)
  world.user('alice', { memberOf: ['Editor'] })
  t.equal(await status(), 200, 'not before a token would have expired')
  clock.pass(LIFETIME)
  t.equal(await status(), 403)
  const headers = { origin: world.origin }
  t.equal((await visitor.ask('/v1/trainings', { space: 'main', method: 'POST', headers })).status, 200)
})

t.test('any number of requests cause one request to the provider', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const before = world.acme.count('/token')
  clock.pass(LIFETIME)
  for (let round = 0; round < 2; round++) {
    const pages = await Promise.all(Array.from({ length: 10 }, () => visitor.ask('/v1/me')))
    t.same(new Set(pages.map(({ status }) => status)), new Set([200]), 'all requests succeed')
  }
  t.equal(world.acme.count('/token') - before, 1)
})

t.test('the provider is down: 503, until it is back', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  await world.acme.down()
  t.equal((await visitor.ask('/v1/me')).status, 200, 'it is not asked before a token would have expired')
  clock.pass(LIFETIME)
  t.equal((await visitor.ask('/v1/me')).status, 503)
  await world.acme.up()
  await until(async () => (await visitor.ask('/v1/me')).status === 200, 'the session without a new sign-in')
})

t.test('a user that the provider no longer has: the session ends', async (t) => {
  world.user('bob', { memberOf: ['Viewer'] })
  const visitor = world.visitor('bob')
  await visitor.page('/pages/a')
  world.acme.accounts.delete('bob')
  clock.pass(LIFETIME)
  t.equal((await visitor.ask('/v1/me')).status, 401)
  world.user('bob', { memberOf: ['Viewer'] })
  t.match(
    (await visitor.ask('/v1/me')).json,
    { status: 401, code: 'token_invalid' },
    'it stays ended when the user is back',
  )
  t.equal((await visitor.ask('/pages/a', { headers: NAVIGATION })).status, 303, 'a browser signs in again')
})

t.test('a refresh token that the provider rejects: a page redirects to sign-in and returns', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  world.acme.instead = (request, response) => {
    if (request.url !== '/token') return false
    response.writeHead(400, { 'content-type': 'application/json' }).end('{"error":"invalid_request"}')
    return true
  }
  clock.pass(LIFETIME)
  const page = await visitor.ask('/pages/a', { headers: NAVIGATION })
  world.acme.instead = null
  t.equal(page.status, 303)
  t.match(page.headers.location, `${world.acme.issuer}/auth?`)
  t.equal((await visitor.ask('/v1/me')).status, 401)
  t.equal((await visitor.page('/pages/a')).status, 200)
  t.match(world.events('session_ended').at(-1), { reason: /the provider responded with invalid_request/ })
})

t.test("a program's token expires, and the program gets another", async (t) => {
  const visitor = world.visitor()
  const { access_token: token, refresh_token } = (await visitor.signIn()).json
  t.equal((await visitor.ask('/v1/me', { token })).status, 200)
  clock.pass(LIFETIME)
  t.equal((await visitor.ask('/v1/me', { token })).json.code, 'token_expired')
  const next = (await visitor.refresh(refresh_token)).json
  t.equal(next.expires_in, LIFETIME / 1000)
  t.equal((await visitor.ask('/v1/me', { token: next.access_token })).status, 200)
})
