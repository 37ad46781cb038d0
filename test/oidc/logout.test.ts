/** Signing out: on every instance at once, then at the provider. */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { until } from '../support/until.ts'
import { announced, breakTable, freshWorld, sessions } from './world.ts'

t.test('a browser is redirected to sign out at the provider, and returns', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  const cookie = browser.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  const out = await browser.post(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.equal(out.status, 303)
  t.match(out.headers['set-cookie'], [
    `${SESSION_COOKIE}=; Path=/; Max-Age=0; Secure; HttpOnly; SameSite=Lax`,
  ])
  const target = new URL(out.headers.location ?? '')
  t.equal(target.origin, world.acme.issuer)
  t.match(Object.fromEntries(target.searchParams), {
    id_token_hint: /^ey/,
    post_logout_redirect_uri: `${world.origin}/bye`,
  })
  const page = await browser.onward(out)
  t.equal(page.url, `${world.origin}/bye`)

  const attacker = world.visitor()
  attacker.cookies(world.origin).set(SESSION_COOKIE, cookie)
  t.equal((await attacker.send(`${world.origin}/v1/me`)).status, 401, 'the cookie is no longer valid')
  t.same(announced(world), [cookie.split('.')[1]])

  // The session at the provider has ended too: the provider asks for a login.
  const again = await browser.send(`${world.origin}/pages/a`, { headers: { accept: 'text/html' } })
  const login = await browser.walk(again.headers.location ?? '', (url) => url.includes('/interaction/'))
  t.match(login.headers.location, '/interaction/')
})

t.test('a program signs out by cookie or by refresh handle', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  const byCookie = await browser.postJson(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.match(byCookie.json, { logged_out: true, end_session_url: `${world.acme.issuer}/session/end?` })
  t.notOk(browser.cookies(world.origin).has(SESSION_COOKIE))

  const program = world.visitor()
  const { refresh_token } = (await program.signIn()).json
  const byHandle = await program.postJson(`${world.origin}/auth/oidc/logout`, { refresh_token })
  t.equal(byHandle.status, 200)
  t.equal((await program.refresh(refresh_token)).status, 401)
})

t.test('a used handle still ends its session; a made-up handle ends none', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const first = (await browser.signIn()).json.refresh_token
  const second = (await browser.refresh(first)).json.refresh_token
  const [tenant, id] = String(second).split('.')
  for (const made of ['x', `${tenant}.${id}.${'A'.repeat(43)}.${'A'.repeat(43)}`]) {
    const page = await browser.postJson(`${world.origin}/auth/oidc/logout`, { refresh_token: made })
    t.equal(page.status, 200, 'a request without a session succeeds')
    t.same(page.json, { logged_out: true })
  }
  const third = (await browser.refresh(second)).json.refresh_token
  t.ok(third)
  await browser.postJson(`${world.origin}/auth/oidc/logout`, { refresh_token: first })
  t.equal((await browser.refresh(third)).status, 401)
})

t.test('a request without cookie and handle', async (t) => {
  const world = await freshWorld()
  const browser = world.visitor()
  for (let i = 0; i < 2; i++) {
    const page = await browser.send(`${world.origin}/auth/oidc/logout`, { method: 'POST' })
    t.same(page.json, { logged_out: true })
    t.equal(page.headers['set-cookie'], undefined)
  }
  t.equal(world.acme.requestCounts.size, 0)
})

t.test('the provider is unavailable: the session ends at the gateway', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  await world.configure()
  await world.acme.down()
  const page = await browser.postJson(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.same(page.json, { logged_out: true })
  t.match(world.events('logout_incomplete'), [{ tenant: 'acme' }])
  await world.acme.up()
  t.equal(
    sessions(world).every(({ endedAt }) => endedAt !== null),
    true,
  )
})

t.test('the store is unavailable: 503, and no response claims success', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  await browser.page('/pages/home')
  const mend = breakTable(world, 'sessions')
  const page = await browser.postJson(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.equal(page.status, 503)
  mend()
  t.equal((await browser.send(`${world.origin}/v1/me`)).status, 200)
})

t.test("the provider's refresh token is revoked", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const { refresh_token } = (await browser.signIn()).json
  const out = await browser.postJson(`${world.origin}/auth/oidc/logout`, { refresh_token })
  t.equal(out.status, 200)
  await until(() => world.acme.count('/token/revocation') > 0, 'the revocation')
  t.equal(world.acme.count('/token/revocation'), 1)
})
