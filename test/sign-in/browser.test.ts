/** A browser on a whole gateway: sent to sign in, back on its page with a session, and signed out. */

import t from 'tap'
import { SESSION_COOKIE } from '../../src/oidc/session/cookies.ts'
import { NAVIGATION } from '../oidc/browser-client.ts'
import { startSignIn } from './world.ts'

const world = await startSignIn(t)
await world.gateway.seat('Viewer', ['main'], ['trainings:list'])
world.user('alice', { memberOf: ['Viewer'] })
const { upstream } = world.gateway

t.test('a page that needs somebody signed in', async (t) => {
  const visitor = world.visitor()
  const target = '/pages/report?year=2026&q=a%20b'
  const sent = await visitor.ask(target, { headers: NAVIGATION })
  t.equal(sent.status, 303)
  t.match(sent.headers.location, `${world.acme.issuer}/auth?`)
  t.equal(sent.headers['cache-control'], 'no-store')
  const before = upstream.seen.length
  const page = await visitor.onward(sent)
  t.equal(page.url, world.origin + target, 'back on the page')
  t.equal(page.status, 200)
  t.same(
    [...visitor.cookies(world.origin).keys()],
    [SESSION_COOKIE],
    'with a session, and nothing else of ours',
  )
  t.equal(upstream.seen.length, before + 1, 'the upstream heard of it once')
  t.equal(upstream.seen.at(-1)?.url, target)
  t.match(upstream.seen.at(-1)?.headers, {
    'x-seatgate-auth': 'session',
    'x-seatgate-user': 'alice',
    'x-seatgate-tenant': 'acme',
    'x-seatgate-email': 'alice@acme.example',
  })
})

t.test('the session decides by Seats, as a token does', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  t.equal((await visitor.ask('/v1/trainings', { space: 'main' })).status, 200)
  t.equal((await visitor.ask('/v1/trainings', { space: 'other' })).json.code, 'no_seat_in_space')
  const headers = { origin: world.origin }
  const write = await visitor.ask('/v1/trainings', { space: 'main', method: 'POST', headers })
  t.equal(write.json.code, 'permission_denied')
  t.equal((await visitor.ask('/v1/trainings')).json.code, 'space_required')
  t.equal((await visitor.ask('/lists/a', { headers: NAVIGATION })).status, 400, 'signed in: no redirect')
})

t.test('the cookie goes no further than the gateway', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  visitor.cookies(world.origin).set('theme', 'dark')
  await visitor.ask('/pages/b', { headers: NAVIGATION })
  t.equal(upstream.seen.at(-1)?.headers.cookie, 'theme=dark')
  await visitor.ask('/bye')
  t.match(upstream.seen.at(-1), { url: '/bye', headers: { cookie: 'theme=dark' } }, 'nor on a public route')
  const all = JSON.stringify(upstream.seen)
  t.notMatch(all, '__Host-seatgate', 'neither now nor before')
  t.notOk([...world.secrets].some((secret) => secret.length > 8 && all.includes(secret)))
})

t.test('a form begins it too', async (t) => {
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

t.test('programs, and what pages do in the background, get the 401', async (t) => {
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

t.test('requests that other sites make with the cookie', async (t) => {
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
  t.equal(upstream.seen.length, before, 'none reached the upstream')
  const out = await visitor.logout({}, 'https://evil.example')
  t.equal(out.status, 401)
  t.equal((await visitor.ask('/v1/me')).status, 200, 'still signed in')
  for (const headers of [{ origin: world.origin }, { 'sec-fetch-site': 'same-origin' }] as Record<
    string,
    string
  >[])
    t.equal((await visitor.ask('/v1/me', { method: 'POST', headers })).status, 200, JSON.stringify(headers))
})

t.test('logout: the cookie is dead when it is answered, also who copied it', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const thief = world.visitor().withCookiesOf(visitor)
  t.equal((await thief.ask('/v1/me')).status, 200)
  const out = await visitor.logout()
  t.match(out.json, { logged_out: true, end_session_url: world.acme.issuer })
  t.match((await thief.ask('/v1/me')).json, { status: 401, code: 'token_invalid' })
  t.notOk(visitor.cookies(world.origin).has(SESSION_COOKIE))

  // One that has ended is as good as none: the browser is sent to sign in again.
  const again = await thief.ask('/pages/a', { headers: NAVIGATION })
  t.equal(again.status, 303)
})

t.test('logout from a page, on to the provider, and back', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  const out = await visitor.post(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.equal(out.status, 303)
  const page = await visitor.onward(out)
  t.equal(page.url, `${world.origin}/bye`)
  t.equal((await visitor.ask('/v1/me')).status, 401)
})

t.test('a bearer token or a key that is no good is not mended by the cookie', async (t) => {
  const visitor = world.visitor()
  await visitor.page('/pages/a')
  t.equal((await visitor.ask('/v1/me', { token: 'x.y.z' })).json.code, 'token_invalid')
  for (const credential of [{ authorization: 'bearer x.y.z' }, { 'x-api-key': '' }]) {
    const headers = { ...NAVIGATION, ...credential } as Record<string, string>
    t.equal((await visitor.ask('/pages/a', { headers })).status, 401, 'nor by signing in again')
  }
  const basic = { ...NAVIGATION, authorization: 'Basic eDp5' }
  t.equal(
    (await world.visitor().ask('/pages/a', { headers: basic })).status,
    303,
    "the service's own, not ours",
  )
  t.equal((await visitor.ask('/v1/me', { headers: { 'x-api-key': 'sk_x' } })).json.code, 'api_key_invalid')
})
