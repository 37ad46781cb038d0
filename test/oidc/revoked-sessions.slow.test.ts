/** A revocation ends sessions: their cookies, tokens and refresh handles, also while one of these is being made or renewed. */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { laterThan, storeOf } from '../decision/revoking.ts'
import { idTokenOf } from '../sign-in/id-token.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import { freshWorld, HOUR, seat, sessions, type SignInWorld } from './world.ts'

const clock = moveClock(t)
const { revoke } = await storeOf(t, (await freshWorld()).gateway)

const home = (world: SignInWorld, browser: ReturnType<SignInWorld['visitor']>) =>
  browser.send(`${world.origin}/v1/me`)

/** Revokes while the provider holds its response to a request for tokens. */
function revokeDuringTokenRequest(world: SignInWorld, subject: Parameters<typeof revoke>[0]) {
  const { acme } = world
  const made = Promise.withResolvers<void>()
  acme.instead = (request, response) => {
    if (!request.url?.endsWith('/token')) return false
    acme.instead = null
    const { end } = response
    response.end = ((...of: Parameters<typeof end>) => {
      void revoke(subject).then(() => {
        end.apply(response, of)
        made.resolve()
      }, made.reject)
      return response
    }) as typeof end
    return false
  }
  return made.promise
}

t.test('of the user, and of the tenant: cookie, token and handle', async (t) => {
  for (const subject of [{ user: 'alice' }, { tenant: true }] as const) {
    const world = await freshWorld()
    await seat(world, 'Viewer', ['s1'])
    world.user('alice', { memberOf: ['Viewer'] })
    world.user('bob', { memberOf: ['Viewer'] })
    const [browser, program, bob] = [world.visitor(), world.visitor(), world.visitor('bob')]
    await browser.page('/pages/home')
    const { access_token: token, refresh_token: handle } = (await program.signIn()).json
    await bob.page('/pages/home')
    t.equal((await home(world, browser)).status, 200)
    t.equal((await program.ask('/v1/me', { token })).status, 200)
    await revoke(subject)
    t.match((await home(world, browser)).json, { status: 401, code: 'token_revoked' })
    t.match((await program.ask('/v1/me', { token })).json, { status: 401, code: 'token_revoked' })
    for (let times = 0; times < 2; times++)
      t.match((await program.refresh(handle)).json, { status: 401, code: 'token_revoked' })
    t.equal((await home(world, bob)).status, 'user' in subject ? 200 : 401)
    t.equal(world.events('refresh_replayed').length, 0, 'a used handle is no theft')
    // Within the same second as the revocation: the session was born after it.
    t.equal((await program.ask('/v1/me', { token: (await program.signIn()).json.access_token })).status, 200)
    await browser.page('/pages/home')
    t.equal((await home(world, browser)).status, 200)
  }
})

t.test('of one session: the others of the user stay', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const [one, other] = [world.visitor(), world.visitor()]
  for (const browser of [one, other]) await browser.page('/pages/home')
  const [, id = ''] = (one.cookies(world.origin).get(SESSION_COOKIE) ?? '').split('.')
  await revoke({ session: id })
  t.match((await home(world, one)).json, { status: 401, code: 'token_revoked' })
  t.equal((await home(world, other)).status, 200)
})

t.test('a browser that loads a page is sent to the sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  await revoke({ user: 'alice' })
  const page = await browser.send(`${world.origin}/pages/home`, { headers: { accept: 'text/html' } })
  t.equal(page.status, 303)
})

t.test('an expired session is expired, whatever has ended it', async (t) => {
  const world = await freshWorld({ acme: { sessionLifetime: 2 * HOUR } })
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  await revoke({ user: 'alice' })
  clock.pass(2 * HOUR)
  t.match((await home(world, browser)).json, { status: 401, code: 'token_expired' })
})

t.test('during a sign-in: the session is born after the revocation', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const revoked = revokeDuringTokenRequest(world, { user: 'alice' })
  await browser.page('/pages/home')
  await revoked
  t.equal((await home(world, browser)).status, 200)
})

t.test('during a refresh: no token is given', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const program = world.visitor()
  const { access_token: token, refresh_token: handle } = (await program.signIn()).json
  const revoked = revokeDuringTokenRequest(world, { user: 'alice' })
  const page = await program.refresh(handle)
  await revoked
  t.match(page.json, { status: 401, code: 'token_revoked' })
  t.notOk('access_token' in page.json)
  t.match((await program.ask('/v1/me', { token })).json, { code: 'token_revoked' })
  t.match(sessions(world), [{ revoked: true, endedAt: Number, sealed: '' }], "the provider's tokens are gone")
})

t.test('during the renewal of a cookie: the request is refused', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  clock.pass(HOUR)
  const revoked = revokeDuringTokenRequest(world, { user: 'alice' })
  const page = await home(world, browser)
  await revoked
  t.match(page.json, { status: 401, code: 'token_revoked' })
  t.match((await home(world, browser)).json, { status: 401, code: 'token_revoked' })
})

t.test("the provider's tokens, where the tenant accepts them", async (t) => {
  const world = await freshWorld({ acme: { acceptProviderTokens: true } })
  world.user('carol', {})
  const visitor = world.visitor('carol')
  const token = await idTokenOf(visitor, world.acme)
  t.equal((await visitor.ask('/v1/me', { token })).status, 200)
  const at = await revoke({ user: 'carol' })
  t.match((await visitor.ask('/v1/me', { token })).json, { status: 401, code: 'token_revoked' })
  await laterThan(at)
  const later = await idTokenOf(visitor, world.acme)
  t.equal((await visitor.ask('/v1/me', { token: later })).status, 200)
})
