/** Reloads that change the providers of tenants: pending sign-ins, and open sessions. */

import t from 'tap'
import { NAVIGATION } from './visitor.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t, { acme: null, globex: null, routes: ['ANY /v1/me: authenticated'] })

t.test('no tenant has a provider', async (t) => {
  const visitor = world.visitor()
  t.match((await visitor.begin()).json, { status: 404, code: 'route_not_found' })
  t.equal((await visitor.refresh('sgr_x')).status, 404)
  t.equal((await visitor.ask('/auth/oidc/callback?state=x&code=y')).status, 404)
})

t.test('one tenant now has a provider, the other does not', async (t) => {
  await world.configure({ globex: null, routes: ['ANY /v1/me: authenticated'] })
  world.user('alice')
  const visitor = world.visitor()
  t.equal((await visitor.signIn()).status, 200)
  for (const tenant of ['globex', 'initech', '__proto__']) {
    const answer = await visitor.begin(tenant)
    t.match(answer.json, { status: 400, code: 'input_invalid', errors: [{ path: '/tenant' }] }, tenant)
  }
  t.equal((await visitor.validate('x', 'globex')).status, 400)
})

t.test('a route can name only a tenant with a provider for sign_in', async (t) => {
  const routes = ['GET /pages/*: { permission: authenticated, sign_in: globex }']
  await t.rejects(world.configure({ globex: null, routes }), /routes\/main\.yaml:3:\d+/)
  await world.configure()
  t.equal((await world.visitor().ask('/globex/a', { headers: NAVIGATION })).status, 303)
})

t.test('a pending sign-in completes after a reload that keeps its provider', async (t) => {
  const visitor = world.visitor()
  const answer = await visitor.answer()
  await world.configure()
  t.equal((await visitor.send(answer.href)).status, 200)
})

t.test('another provider: pending sign-ins start again, sessions stay with their tenant', async (t) => {
  const browser = world.visitor()
  await browser.page('/pages/a')
  const program = world.visitor()
  const { refresh_token } = (await program.signIn()).json
  const late = world.visitor()
  const answer = await late.answer()

  const { issuer } = world.globex
  const other = { clientId: 'client_secret_post-RS256', clientAuth: 'client_secret_post' } as const
  await world.configure({ acme: { issuer }, globex: other })
  t.match((await late.send(answer.href)).json, { status: 400, errors: [{ path: '/state' }] })
  world.user('alice', {}, world.globex)
  const begun = await world.visitor().begin()
  t.match(begun.json.authorization_url, `${issuer}/auth`)
  t.equal((await world.visitor().signIn()).status, 200)
  t.equal((await browser.ask('/v1/me')).status, 200)
  const tokenRequests = world.globex.count('/token')
  t.match((await program.refresh(refresh_token)).json, { status: 401, code: 'token_invalid' })
  t.equal(
    world.globex.count('/token'),
    tokenRequests,
    "the new provider does not receive the old one's refresh token",
  )
  const out = await browser.logout()
  t.match(out.json, { logged_out: true, end_session_url: issuer })
  t.notMatch(out.json.end_session_url, 'id_token_hint', 'nor at sign-out')
  t.equal(world.globex.count('/token/revocation'), 0)
  await world.configure()
})

t.test('the provider is removed: its sessions are refused', async (t) => {
  const browser = world.visitor()
  await browser.page('/pages/a')
  t.equal((await browser.ask('/v1/me')).status, 200)
  await world.configure({ acme: null, routes: ['ANY /v1/me: authenticated'] })
  t.equal((await browser.ask('/v1/me')).json.code, 'token_invalid')
  await world.configure()
  t.equal((await browser.ask('/v1/me')).status, 200, 'until it is configured again')
})

t.test('a change of the session lifetime', async (t) => {
  await world.configure({ acme: { sessionLifetime: 3_600_000 } })
  const visitor = world.visitor()
  const answer = await visitor.answer('acme', { return_to: '/pages/a' })
  const back = await visitor.send(answer.href)
  t.equal(back.status, 303)
  const [, age = ''] = /Max-Age=(\d+);/.exec(back.headers['set-cookie']?.[0] ?? '') ?? []
  t.ok(Number(age) > 3000 && Number(age) <= 3600, age)
})
