/** Successful sign-in of programs and browsers, against real providers. */

import t from 'tap'
import { decodeJwt } from 'jose'
import { ALGORITHMS, METHODS } from './provider.ts'
import { freshWorld, seat, userOf } from './world.ts'

t.test('a program signs in, and its token has the specified claims', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1', 's2'])
  await seat(world, 'ns:Editor', ['s1'])
  await seat(world, 'Admin', ['s9'], 'globex')
  world.user('alice', { memberOf: ['Viewer', 'ns:Editor', 'Admin'] })
  const browser = world.visitor()

  const begun = await browser.begin()
  t.equal(begun.status, 200)
  t.match(begun.json, { authorization_url: String, state: /^[\w-]{43}$/, expires_in: 600 })
  const parameters = new URL(begun.json.authorization_url).searchParams
  t.equal(parameters.get('code_challenge_method'), 'S256')
  t.equal(parameters.get('redirect_uri'), `${world.origin}/auth/oidc/callback`)
  t.match(begun.headers['set-cookie'], [
    /^__Host-seatgate_signin_[\w-]{12}=acme\.\w+\.[\w-]+; Path=\/; Max-Age=600; Secure; HttpOnly; SameSite=Lax$/,
  ])

  const back = await browser.walk(begun.json.authorization_url)
  t.equal(back.status, 200)
  t.match(back.json, { token_type: 'Bearer', expires_in: 3600, refresh_token: /^sgr_acme\./ })
  t.same(back.json.user, {
    sub: 'alice',
    email: 'alice@acme.example',
    name: 'A. User',
    tenant_id: 'acme',
    seats: ['Viewer', 'ns:Editor'],
  })
  const claims = decodeJwt(back.json.access_token)
  t.match(claims, {
    sub: 'alice',
    email: 'alice@acme.example',
    tenant_id: 'acme',
    is_sso: true,
    user_metadata: { email: 'alice@acme.example', name: 'A. User', sub: 'alice' },
    hash_perm: ['s1:Viewer', 's2:Viewer', 's1:ns:Editor'],
    iat: Number,
    nbf: claims.iat,
  })
  t.equal((claims.exp ?? 0) - (claims.iat ?? 0), 3600)
  const listed = await browser.ask('/v1/trainings', { token: back.json.access_token, space: 's1' })
  t.match(listed.json, { auth: 'bearer', tenant: 'acme', user: 'alice', seats: 'Viewer,ns%3AEditor' })

  const recorded = await userOf(world, 'alice')
  t.match(recorded, { email: 'alice@acme.example', seats: ['Viewer', 'ns:Editor'] }, 'recorded as a member')
  t.ok(Date.parse(recorded.last_sign_in) >= (claims.iat ?? 0) * 1000, 'with the time of the sign-in')
  t.match(world.events('seats_unknown'), [{ level: 'warn', tenant: 'acme', count: 1, names: ['Admin'] }])
})

t.test('Seats come from userinfo where the ID token lacks the claim', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Admin', ['s9'], 'globex')
  world.user('bob', { memberOf: 'Admin' }, world.globex)
  const answer = await world.visitor('bob').signIn('globex')
  t.same(answer.json.user, {
    sub: 'bob',
    email: 'bob@acme.example',
    name: 'A. User',
    tenant_id: 'globex',
    seats: ['Admin'],
  })
  t.equal(world.globex.count('/me'), 1, 'userinfo was requested')
  t.equal(world.acme.requestCounts.size, 0, "the other tenant's provider received no request")
})

t.test('each authentication method and each algorithm', async (t) => {
  for (const [i, alg] of ALGORITHMS.entries()) {
    const clientAuth = METHODS[i % METHODS.length] ?? 'none'
    await t.test(`${clientAuth}, ${alg}`, async (t) => {
      const world = await freshWorld()
      await world.configure({ acme: { clientAuth, clientId: `${clientAuth}-${alg}` } })
      world.user('alice', {})
      const answer = await world.visitor().signIn()
      t.equal(answer.status, 200)
      t.match(answer.json.user, { sub: 'alice', seats: [] })
      const again = await world.visitor().refresh(answer.json.refresh_token)
      t.equal(again.status, 200, 'the refresh succeeds too')
    })
  }
  await t.test('methods and algorithms come from discovery where none are configured', async (t) => {
    const world = await freshWorld()
    await world.configure({ acme: { clientAuth: null } })
    world.user('alice', {})
    t.equal((await world.visitor().signIn()).status, 200)
  })
})

t.test('a nested claim, a claim with dots in its name, and a missing claim', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1'])
  world.user('alice', {
    realm_access: { roles: ['Viewer'] },
    'https://acme.example/roles': ['Viewer'],
    memberOf: null,
  })
  for (const [seatsClaim, seats] of [
    ['realm_access.roles', ['Viewer']],
    ['https://acme.example/roles', ['Viewer']],
    ['memberOf', []],
    ['constructor.name', []],
    ['__proto__', []],
  ] as const) {
    await world.configure({ acme: { seatsClaim } })
    const answer = await world.visitor().signIn()
    t.same(answer.json.user.seats, seats, seatsClaim)
  }
})

t.test('a browser is redirected to sign in, returns to its page, and has a session', async (t) => {
  const world = await freshWorld()
  await seat(world, 'Viewer', ['s1'])
  world.user('alice', { memberOf: ['Viewer'] })
  const browser = world.visitor()
  const page = await browser.page('/pages/report?year=2026&q=a%20b')
  t.equal(page.url, `${world.origin}/pages/report?year=2026&q=a%20b`)
  t.match(page.json, { auth: 'session', tenant: 'acme', user: 'alice' })
  t.match((await browser.ask('/v1/trainings', { space: 's1' })).json, { user: 'alice', seats: 'Viewer' })
  const names = [...browser.cookies(world.origin).keys()]
  t.same(names, ['__Host-seatgate_session'], 'the cookie of the sign-in is deleted')

  const program = await world.visitor().send(`${world.origin}/pages/report`)
  t.equal(program.status, 401, 'a program gets a 401')
  t.equal(program.json.code, 'credentials_missing')
})

t.test('a form post begins a sign-in too, with a 303', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const fields = { tenant: 'acme', return_to: '/pages/a' }
  const sent = await browser.post(`${world.origin}/auth/oidc/login`, fields, { origin: world.origin })
  t.equal(sent.status, 303)
  t.match(sent.headers.location, `${world.acme.issuer}/auth?`)
  const page = await browser.onward(sent)
  t.equal(page.url, `${world.origin}/pages/a`)
  t.equal(page.json.user, 'alice')
})

t.test('concurrent sign-ins of one browser', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const begun = await Promise.all(Array.from({ length: 3 }, () => browser.begin()))
  for (const page of begun) {
    const back = await browser.walk(page.json.authorization_url)
    t.equal(back.status, 200)
  }
})

t.test('an unverified email address is not passed on', async (t) => {
  const world = await freshWorld()
  world.user('mallory', { email: 'alice@acme.example', email_verified: false })
  const answer = await world.visitor('mallory').signIn()
  t.equal(answer.json.user.sub, 'mallory')
  t.notOk('email' in answer.json.user)
  t.equal((await userOf(world, 'mallory')).email, null, 'nor stored')
})

t.test('a tenant without a provider, and malformed bodies', async (t) => {
  const world = await freshWorld()
  const browser = world.visitor()
  const login = `${world.origin}/auth/oidc/login`
  for (const [body, path] of [
    [{ tenant: 'initech' }, '/tenant'],
    [{ tenant: '__proto__' }, '/tenant'],
    [{}, '/tenant'],
    [{ tenant: 'acme', next: '/' }, '/next'],
    [{ tenant: ['acme'] }, '/tenant'],
    [{ tenant: 'acme', return_to: null }, '/return_to'],
    [[], ''],
  ] as const) {
    const answer = await browser.postJson(login, body)
    t.equal(answer.status, 400, JSON.stringify(body))
    t.match(answer.json, { code: 'input_invalid', errors: [{ path }] })
  }
  const double = await browser.send(login, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: '{"tenant":"acme","tenant":"globex"}',
  })
  t.equal(double.status, 400)
  const form = await browser.send(login, {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'tenant=acme&tenant=globex',
  })
  t.equal(form.status, 400)
  const text = await browser.send(login, {
    method: 'POST',
    headers: { 'content-type': 'text/plain' },
    body: '{}',
  })
  t.equal(text.status, 415)
})
