/**
 * Every flow of sign-in, successful and refused. Then no token, code, secret or cookie may be in a log line, a
 * refusal or a metric, or unsealed in the store. The other tests of this folder end with the same search.
 */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { CLIENT_SECRET } from '../oidc/provider.ts'
import { idTokenOf } from './id-token.ts'
import { searchIn } from './search.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t, { acme: { acceptProviderTokens: true } })
await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
for (const name of ['alice', 'bob']) world.user(name, { memberOf: ['Viewer', 'Nobody'] })
world.user('alice', { memberOf: ['Viewer'] }, world.globex)

t.test('successful flows', async (t) => {
  const program = world.visitor()
  const { access_token: token, refresh_token } = (await program.signIn()).json
  t.equal((await program.ask('/v1/me', { token })).status, 200)
  const next = (await program.refresh(refresh_token)).json.refresh_token
  t.equal((await program.logout({ refresh_token: next })).status, 200)
  t.equal((await world.visitor().signIn('globex')).status, 200)
  const browser = world.visitor('bob')
  t.equal((await browser.page('/pages/a?of=bob')).status, 200)
  const idToken = await idTokenOf(world.visitor('bob'), world.acme)
  t.equal((await browser.validate(idToken)).status, 200)
  t.equal((await browser.ask('/v1/me', { token: idToken })).status, 200)
  t.equal((await browser.logout()).status, 200)
})

t.test('refused callbacks', async (t) => {
  const visitor = world.visitor()
  const answer = await visitor.answer()
  const wrong = (change: (query: URLSearchParams) => void) => {
    const url = new URL(answer)
    change(url.searchParams)
    return url.href
  }
  t.equal((await world.visitor().send(answer.href)).status, 400, 'a state of another browser')
  const head = await visitor.ask(`${answer.pathname}${answer.search}`, { method: 'HEAD' })
  t.match(head, { status: 405, headers: { allow: 'GET' } }, 'HEAD')
  t.equal((await visitor.send(wrong((query) => query.append('code', 'another')))).status, 400, 'two codes')
  t.equal((await visitor.send(wrong((query) => query.set('state', 'made-up-state')))).status, 400)
  t.equal((await visitor.send(answer.href)).status, 200, 'none of them consumed the sign-in')
  t.equal((await visitor.send(answer.href)).status, 400, 'a replay')

  const injected = await visitor.answer()
  injected.searchParams.set('code', answer.searchParams.get('code') ?? '')
  t.equal((await visitor.send(injected.href)).status, 401, 'the code of another sign-in')
  const hostile = await visitor.answer()
  hostile.searchParams.delete('code')
  hostile.searchParams.set('error', 'access_denied')
  hostile.searchParams.set('error_description', `<script>${CLIENT_SECRET.slice(0, 4)}</script>`)
  const said = await visitor.send(hostile.href)
  t.equal(said.status, 401)
  t.notMatch(said.body, 'script')
})

t.test('refused credentials', async (t) => {
  const visitor = world.visitor()
  const { access_token: token, refresh_token } = (await visitor.signIn()).json
  t.equal((await visitor.ask('/v1/me', { token: `${token}A` })).status, 401)
  t.equal((await visitor.ask('/v1/trainings', { token, space: 'other' })).status, 403)
  t.equal((await visitor.ask('/nowhere', { token })).status, 404)
  t.equal((await visitor.ask(`/v1/me?access_token=${token}`)).status, 401)
  t.equal((await visitor.refresh(refresh_token)).status, 200)
  t.equal((await visitor.refresh(refresh_token)).status, 401)
  t.equal((await visitor.refresh(`${refresh_token}x`)).status, 401)
  const idToken = await idTokenOf(world.visitor('bob'), world.acme)
  t.equal((await visitor.validate(`${idToken}x`)).status, 401)
  t.equal((await visitor.validate(idToken, 'globex')).status, 401)
  const body = JSON.stringify({ tenant: 'acme', id_token: idToken, refresh_token })
  const headers = { 'content-type': 'application/json' }
  t.equal((await visitor.ask('/auth/oidc/validate', { method: 'POST', headers, body })).status, 400)
  const broken = body.slice(0, -3)
  t.equal((await visitor.ask('/auth/oidc/refresh', { method: 'POST', headers, body: broken })).status, 400)
  const browser = world.visitor()
  await browser.page('/pages/a')
  const cookie = browser.cookies(world.origin).get(SESSION_COOKIE) ?? ''
  const twice = { cookie: `${SESSION_COOKIE}=${cookie}; ${SESSION_COOKIE}=${cookie}` }
  t.equal((await browser.ask('/v1/me', { headers: twice })).json.code, 'credentials_ambiguous')
  t.equal((await browser.ask('/v1/me', { headers: { cookie: `${SESSION_COOKIE}=${cookie}x` } })).status, 401)
})

t.test('a provider that stops during a sign-in', async (t) => {
  const visitor = world.visitor()
  const { refresh_token } = (await visitor.signIn()).json
  const answer = await visitor.answer()
  const browser = world.visitor()
  await browser.page('/pages/a')
  await world.acme.down()
  t.match((await visitor.send(answer.href)).json, { status: 503, code: 'unavailable' })
  t.equal((await visitor.refresh(refresh_token)).status, 503)
  t.equal((await browser.ask('/v1/me')).status, 200, 'sessions stay valid')
  t.match((await browser.logout()).json, { logged_out: true })
  t.equal((await world.visitor().signIn('globex')).status, 200, 'the other tenant is unaffected')
  await world.acme.up()
  t.equal((await visitor.refresh(refresh_token)).status, 200, 'the handle is valid again')
})

t.test('the search itself', async (t) => {
  t.ok(world.secrets.size > 100, 'the list of secrets is long')
  await world.search()
  const lines = world.gateway.log()
  t.ok(
    lines.some(({ path }) => path === '/auth/oidc/callback'),
    'callbacks are in the log',
  )
  t.ok(lines.some(({ event }) => event === 'sign_in_failed'))
  // The search finds secrets that are there.
  t.throws(
    () => searchIn('x', world.gateway.logText(), new Set(['/auth/oidc/callback'])),
    /1 secrets are in x/,
  )
  t.throws(() => searchIn('x', encodeURIComponent(CLIENT_SECRET), world.secrets), 'in another encoding')
  const handle = [...world.secrets].find((secret) => secret.startsWith('sgr_')) ?? ''
  t.throws(() => searchIn('x', handle.split('.')[3] ?? '', world.secrets), 'a part of a handle')
})
