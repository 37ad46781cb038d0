/** Back-channel logout by a certified provider: it sends the logout tokens itself. */

import { decodeJwt } from 'jose'
import t from 'tap'
import { provider } from '../seats-admin/store/session-records.ts'
import { open } from '../seats-admin/store/sqlite/support.ts'
import { moveClock } from '../sign-in/moving-clock.ts'
import type { Visitor } from '../sign-in/visitor.ts'
import { holdLease, holdReadings } from '../support/held-lease.ts'
import {
  announced,
  endedByProvider,
  endsInAudit,
  freshWorld,
  sessions,
  shareWorld,
  type SignInWorld,
  startOwn,
} from './world.ts'

/** The providers send back-channel logouts. @param session with `sid` */
const sending = (session: boolean) => (origin: string) => ({
  backchannelLogout: { uri: `${origin}/auth/oidc/backchannel-logout`, session },
})
const clock = moveClock(t)
shareWorld({ providers: sending(false) })

/** Logs out at the provider, without the gateway. */
async function logOutAtProvider(world: SignInWorld, browser: Visitor): Promise<void> {
  const page = await browser.walk(`${world.acme.issuer}/session/end`)
  if (page.status !== 200) throw new Error(`${page.status} ${page.body}`)
}

/** Status of requests by cookie and by token. */
async function statuses(world: SignInWorld, browser: Visitor, token: string) {
  const cookie = await browser.send(`${world.origin}/v1/me`)
  const headers = { authorization: `Bearer ${token}` }
  return [cookie.status, (await world.visitor().send(`${world.origin}/v1/me`, { headers })).status]
}

/** A browser that is signed in at a page and as a program, in one session at the provider. */
async function signedIn(world: SignInWorld, user: string) {
  const browser = world.visitor(user)
  await browser.page('/pages/home')
  const { access_token: token, refresh_token: handle } = (await browser.signIn()).json
  return { browser, token: String(token), handle: String(handle) }
}

t.test('with sid: the sessions of that session at the provider end, and their tokens', async (t) => {
  const world = await startOwn(t, { providers: sending(true) })
  world.user('alice', {})
  const [one, other] = [await signedIn(world, 'alice'), await signedIn(world, 'alice')]
  t.match(decodeJwt(one.token), { sid: /^[\w-]{22}$/ })
  t.same(await statuses(world, one.browser, one.token), [200, 200])
  await logOutAtProvider(world, one.browser)
  t.same(await statuses(world, one.browser, one.token), [401, 401])
  t.equal((await one.browser.refresh(one.handle)).status, 401)
  t.same(await statuses(world, other.browser, other.token), [200, 200], 'another session at the provider')
  const entries = await endedByProvider(t, world, 'backchannel_logout')
  t.match(entries, [{ target: { kind: 'session', name: 'alice' } }, { target: { name: 'alice' } }])
  t.same(entries.map(({ after }: { after: { kind: string } }) => after.kind).toSorted(), [
    'browser',
    'program',
  ])
  const ids = entries.map(({ target }: { target: { id: string } }) => target.id)
  t.same(announced(world), ids, 'both ends are read by every instance')
  const line = {
    level: 'info',
    tenant: 'acme',
    user: 'alice',
    ended: 2,
    sessions: ids,
    request_id: /^[\w-]{36}$/,
  }
  t.match(world.events('backchannel_logout'), [line])

  t.equal((await one.browser.page('/pages/home')).status, 200, 'a new sign-in')
  t.equal((await one.browser.send(`${world.origin}/v1/me`)).status, 200)
})

t.test('a logout that is sent again waits for ends that were never announced', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  await holdLease(t, world.gateway)
  const { browser, token } = await signedIn(world, 'alice')
  await holdReadings(t)
  t.same(await statuses(world, browser, token), [200, 200])
  // As a gateway that ends between commit and announcement.
  const store = await open(t, { path: world.gateway.storeFile })
  const ended = await store.sessions.endSome(provider(Date.now()), { user: 'alice' }, 10)
  t.equal(ended.value.length, 2)
  t.same(await statuses(world, browser, token), [200, 200], 'by memory')
  await logOutAtProvider(world, browser)
  t.same(await statuses(world, browser, token), [401, 401])
  t.match(world.events('backchannel_logout'), [{ ended: 0 }])
})

t.test('without sid: all sessions of the user end', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  world.user('bob', {})
  const [one, other] = [await signedIn(world, 'alice'), await signedIn(world, 'alice')]
  const bob = await signedIn(world, 'bob')
  await logOutAtProvider(world, one.browser)
  t.same(await statuses(world, one.browser, one.token), [401, 401])
  t.same(await statuses(world, other.browser, other.token), [401, 401])
  t.same(await statuses(world, bob.browser, bob.token), [200, 200])
})

t.test('the other tenant has its own provider, and no session of it ends', async (t) => {
  const world = await freshWorld()
  for (const provider of [world.acme, world.globex]) world.user('alice', {}, provider)
  const acme = await signedIn(world, 'alice')
  const globex = (await world.visitor('alice').signIn('globex')).json.access_token
  await logOutAtProvider(world, acme.browser)
  t.same(await statuses(world, acme.browser, globex), [401, 200])
})

t.test('tokens end with their session also by logout and by a replayed refresh token', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const byLogout = await signedIn(world, 'alice')
  const program = world.visitor()
  await program.postJson(`${world.origin}/auth/oidc/logout`, { refresh_token: byLogout.handle })
  t.same(await endsInAudit(world), [], 'no entry for what users do themselves')
  t.equal((await statuses(world, world.visitor(), byLogout.token))[1], 401)

  const replayed = await signedIn(world, 'alice')
  const next = (await replayed.browser.refresh(replayed.handle)).json
  t.equal(decodeJwt(next.access_token).sid, decodeJwt(replayed.token).sid, 'a refresh stays in the session')
  t.equal((await statuses(world, world.visitor(), next.access_token))[1], 200)
  await replayed.browser.refresh(replayed.handle)
  for (const token of [replayed.token, next.access_token])
    t.equal((await statuses(world, world.visitor(), token))[1], 401)
})

t.test('a token never expires after its session', async (t) => {
  const world = await freshWorld({ acme: { sessionLifetime: 90 * 60_000 } })
  world.user('alice', {})
  const browser = world.visitor()
  const first = (await browser.signIn()).json
  t.equal(first.expires_in, 3600)
  clock.pass(80 * 60_000)
  const next = (await browser.refresh(first.refresh_token)).json
  t.ok(next.expires_in <= 600, `${next.expires_in}`)
  const { exp = 0, iat = 0 } = decodeJwt(next.access_token)
  t.equal(exp - iat, next.expires_in)
  const [session] = sessions(world)
  t.equal(exp * 1000, session?.expiresAt)
})
