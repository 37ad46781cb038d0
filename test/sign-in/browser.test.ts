/** A browser on a whole gateway: the redirect to sign-in, the return to the page with a session, and sign-out. */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { NAVIGATION } from './visitor.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t)
await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Viewer'] })
const { upstream } = world.gateway

t.test('a page that requires sign-in', async (t) => {
  const visitor = world.visitor()
  const target = '/pages/report?year=2026&q=a%20b'
  const sent = await visitor.ask(target, { headers: NAVIGATION })
  t.equal(sent.status, 303)
  t.match(sent.headers.location, `${world.acme.issuer}/auth?`)
  t.equal(sent.headers['cache-control'], 'no-store')
  const before = upstream.seen.length
  const page = await visitor.onward(sent)
  t.equal(page.url, world.origin + target, 'the browser returns to the page')
  t.equal(page.status, 200)
  t.same(
    [...visitor.cookies(world.origin).keys()],
    [SESSION_COOKIE],
    "the session cookie is the gateway's only cookie",
  )
  t.equal(upstream.seen.length, before + 1, 'the upstream receives one request')
  t.equal(upstream.seen.at(-1)?.url, target)
  t.match(upstream.seen.at(-1)?.headers, {
    'x-seatgate-auth': 'session',
    'x-seatgate-user': 'alice',
    'x-seatgate-tenant': 'acme',
    'x-seatgate-email': 'alice@acme.example',
  })
})

t.test('a session is authorized by its Seats, as a token is', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  t.equal((await visitor.ask('/v1/trainings', { space: 'main' })).status, 200)
  t.equal((await visitor.ask('/v1/trainings', { space: 'other' })).json.code, 'no_seat_in_space')
  const headers = { origin: world.origin }
  const write = await visitor.ask('/v1/trainings', { space: 'main', method: 'POST', headers })
  t.equal(write.json.code, 'permission_denied')
  t.equal((await visitor.ask('/v1/trainings')).json.code, 'space_required')
  t.equal((await visitor.ask('/lists/a', { headers: NAVIGATION })).status, 400, 'no redirect while signed in')
})

t.test('the upstream does not receive the session cookie', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  visitor.cookies(world.origin).set('theme', 'dark')
  await visitor.ask('/pages/b', { headers: NAVIGATION })
  t.equal(upstream.seen.at(-1)?.headers.cookie, 'theme=dark')
  await visitor.ask('/bye')
  t.match(
    upstream.seen.at(-1),
    { url: '/bye', headers: { cookie: 'theme=dark' } },
    'not on a public route either',
  )
  const all = JSON.stringify(upstream.seen)
  t.notMatch(all, '__Host-seatgate', 'in no earlier request either')
  t.notOk([...world.secrets].some((secret) => secret.length > 8 && all.includes(secret)))
})

t.test('a form post begins sign-in too', async (t) => {
  const visitor = world.visitor()
  const fields = { tenant: 'acme', return_to: '/pages/a' }
  const sent = await visitor.post(`${world.origin}/auth/oidc/login`, fields, { origin: world.origin })
  t.equal(sent.status, 303)
  t.match(sent.headers.location, `${world.acme.issuer}/auth?`)
  const page = await visitor.onward(sent)
  t.equal(page.url, `${world.origin}/pages/a`)
  t.ok(visitor.cookies(world.origin).has(SESSION_COOKIE))
  const away = await visitor.begin('acme', { return_to: 'https://evil.example/' })
  t.match(away.json, { status: 400, code: 'input_invalid', errors: [{ path: '/return_to' }] })
})

t.test('programs and background requests of pages get a 401', async (t) => {
  for (const headers of [
    {},
    { accept: '*/*' },
    { accept: 'application/json' },
    { ...NAVIGATION, 'sec-fetch-mode': 'cors' },
  ] as Record<string, string>[]) {
    const answer = await world.visitor().ask('/pages/a', { headers })
    t.match(answer.json, { status: 401, code: 'credentials_missing' }, JSON.stringify(headers))
    t.ok(answer.headers['www-authenticate'])
    t.equal(answer.headers['set-cookie'], undefined)
  }
  const page = await world.visitor().ask('/v1/me', { headers: NAVIGATION })
  t.equal(page.status, 401, 'a route without sign_in')
  const post = await world.visitor().ask('/pages/a', { method: 'POST', headers: NAVIGATION })
  t.equal(post.status, 405)
})

t.test('cross-site requests with the cookie', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const before = upstream.seen.length
  for (const method of ['POST', 'PUT', 'DELETE'])
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null' },
      { 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ] as Record<string, string>[]) {
      const answer = await visitor.ask('/v1/me', { method, headers })
      t.match(
        answer.json,
        { status: 401, code: 'credentials_missing' },
        `${method} ${JSON.stringify(headers)}`,
      )
    }
  t.equal(upstream.seen.length, before, 'the upstream receives none of them')
  const out = await visitor.logout({}, 'https://evil.example')
  t.match(out.json, { status: 403, code: 'origin_refused' })
  t.equal((await visitor.ask('/v1/me')).status, 200, 'the session is still valid')
  for (const headers of [{ origin: world.origin }, { 'sec-fetch-site': 'same-origin' }] as Record<
    string,
    string
  >[])
    t.equal((await visitor.ask('/v1/me', { method: 'POST', headers })).status, 200, JSON.stringify(headers))
})

t.test('logout: the cookie and its copies are invalid once the response arrives', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const attacker = world.visitor().withCookiesOf(visitor)
  t.equal((await attacker.ask('/v1/me')).status, 200)
  const out = await visitor.logout()
  t.match(out.json, { logged_out: true, end_session_url: world.acme.issuer })
  t.match((await attacker.ask('/v1/me')).json, { status: 401, code: 'token_invalid' })
  t.notOk(visitor.cookies(world.origin).has(SESSION_COOKIE))

  // An ended session counts as none: the browser is redirected to sign in again.
  const again = await attacker.ask('/pages/a', { headers: NAVIGATION })
  t.equal(again.status, 303)
})

t.test('logout from a page continues at the provider and returns', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const out = await visitor.post(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.equal(out.status, 303)
  const page = await visitor.onward(out)
  t.equal(page.url, `${world.origin}/bye`)
  t.equal((await visitor.ask('/v1/me')).status, 401)
})

t.test('a valid cookie does not replace an invalid bearer token or API key', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  t.equal((await visitor.ask('/v1/me', { token: 'x.y.z' })).json.code, 'token_invalid')
  for (const credential of [{ authorization: 'bearer x.y.z' }, { 'x-api-key': '' }]) {
    const headers = { ...NAVIGATION, ...credential } as Record<string, string>
    t.equal((await visitor.ask('/pages/a', { headers })).status, 401, 'sign-in does not replace it either')
  }
  const basic = { ...NAVIGATION, authorization: 'Basic eDp5' }
  t.equal(
    (await world.visitor().ask('/pages/a', { headers: basic })).status,
    303,
    "a cookie of the service, not the gateway's",
  )
  t.equal((await visitor.ask('/v1/me', { headers: { 'x-api-key': 'sk_x' } })).json.code, 'api_key_invalid')
})
