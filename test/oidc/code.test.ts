/**
 * Authorization responses that are replayed, injected or mixed up. The provider's PKCE check and the gateway's state make a code
 * worthless elsewhere. One tenant's provider must not receive another's code (RFC 9700, section 4.4): responses name their issuer
 * (`iss`, RFC 9207), or the tenant has a callback of its own.
 */

import t from 'tap'
import { freshWorld } from './world.ts'
import { callbackOf, HostileProvider } from './hostile-provider.ts'

t.test('replay: a redeemed code under the state of a new sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const first = await browser.answer()
  t.equal((await browser.send(first.href)).status, 200)
  const second = await browser.answer()
  second.searchParams.set('code', first.searchParams.get('code') ?? '')
  const page = await browser.send(second.href)
  t.equal(page.status, 401)
  t.equal(page.json.code, 'token_invalid')
  t.match(world.events('sign_in_failed'), [{ reason: /invalid_grant/ }])
})

t.test("injection: a victim's unredeemed code under the attacker's own state", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  world.user('mallory', {})
  const victim = await world.visitor('alice').answer()
  const browser = world.visitor('mallory')
  const own = await browser.answer()
  own.searchParams.set('code', victim.searchParams.get('code') ?? '')
  const page = await browser.send(own.href)
  t.equal(page.status, 401, 'the code was requested with another code_challenge')
  t.equal(page.json.code, 'token_invalid')
})

t.test('a missing, empty or repeated code', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const twice = await browser.answer()
  const page = await browser.send(`${twice.href}&code=x`)
  t.match(page.json, { status: 400, errors: [{ path: '/code' }] })
  const none = await browser.answer()
  none.searchParams.delete('code')
  t.match((await browser.send(none.href)).json, { status: 400, errors: [{ path: '/code' }] })
  const empty = await browser.answer()
  empty.searchParams.set('code', '')
  t.match((await browser.send(empty.href)).json, { status: 400, errors: [{ path: '/code' }] })
  t.equal(world.acme.count('/token'), 0)
})

t.test('each sign-in has its own verifier, nonce and state', async (t) => {
  const world = await freshWorld()
  const seen = new Set<string>()
  for (let i = 0; i < 10; i++) {
    const begun = await world.visitor().begin()
    const parameters = new URL(begun.json.authorization_url).searchParams
    for (const name of ['state', 'nonce', 'code_challenge']) {
      t.match(parameters.get(name), /^[\w-]{43}$/)
      seen.add(parameters.get(name) ?? '')
    }
  }
  t.equal(seen.size, 30)
})

t.test("the response of another flow is the client's error, not the provider's", async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  for (const name of ['response', 'id_token', 'token', 'token_type', 'access_token']) {
    const answer = await browser.answer()
    answer.searchParams.set(name, 'x')
    t.match((await browser.send(answer.href)).json, { status: 400, errors: [{ path: `/${name}` }] }, name)
  }
  t.equal(world.acme.count('/token'), 0)
  t.same(world.events('sign_in_failed'), [])
})

t.test('HEAD is refused and does not consume the sign-in', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const answer = await browser.answer()
  t.equal((await browser.send(answer.href, { method: 'HEAD' })).status, 405)
  t.equal((await browser.send(answer.href)).status, 200)
})

t.test('another issuer in the response, or none although the provider always sends one', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  const browser = world.visitor()
  const changes: ((query: URLSearchParams) => void)[] = [
    (query) => query.set('iss', world.globex.issuer),
    (query) => query.set('iss', `${world.acme.issuer}/`),
    (query) => query.set('iss', world.acme.issuer.toUpperCase()),
    (query) => query.set('iss', ''),
    (query) => query.append('iss', world.acme.issuer),
    (query) => query.delete('iss'),
  ]
  for (const change of changes) {
    const answer = await browser.answer()
    change(answer.searchParams)
    const page = await browser.send(answer.href)
    t.match(page.json, { status: 400, code: 'input_invalid', errors: [{ path: '/iss' }] })
  }
  t.equal(world.acme.count('/token'), 0, 'no token request')
})

t.test(
  "a hostile tenant's provider redirects the browser to an honest one, with its own state",
  async (t) => {
    const world = await freshWorld()
    const hostile = await HostileProvider.start(t)
    // It claims to send `iss`, so that the common callback accepts it.
    hostile.metadata = { authorization_response_iss_parameter_supported: true }
    await hostile.takes(world, { acme: { redirectUri: `${world.origin}/auth/oidc/callback` } })
    world.user('victim', { memberOf: [] }, world.globex)
    const browser = world.visitor('victim')

    // The victim begins at the hostile provider, which forwards state, nonce and challenge to the honest one.
    const begun = await browser.begin('acme')
    const parameters = new URL(begun.json.authorization_url).searchParams
    const onward = new URL('/auth', world.globex.issuer)
    onward.search = String(parameters)
    onward.searchParams.set('client_id', world.globex.config().clientId)
    const stopped = await browser.walk(onward.href, (url) => url.startsWith(`${world.origin}/`))
    const answer = new URL(stopped.headers.location ?? 'nowhere:')
    t.ok(
      answer.searchParams.get('code'),
      "the honest provider issued the victim's code under the hostile provider's state",
    )

    const page = await browser.send(answer.href)
    t.match(page.json, { status: 400, errors: [{ path: '/iss' }] })
    t.equal(hostile.forms.length, 0, 'the hostile provider received no code')
  },
)

t.test('a provider that does not send iss, on a callback shared with another tenant', async (t) => {
  const world = await freshWorld()
  const silent = await HostileProvider.start(t)
  await silent.takes(world, { acme: { redirectUri: `${world.origin}/auth/oidc/callback` } })
  const page = await world.visitor().begin()
  t.match(page.json, { status: 503, code: 'unavailable' }, 'the sign-in is refused')
  t.match(
    world.events('sign_in_failed'),
    [{ tenant: 'acme', reason: /redirect_uri/ }],
    'the log has the reason',
  )
})

t.test('the sign-in succeeds with a callback of its own', async (t) => {
  const world = await freshWorld()
  const silent = await HostileProvider.start(t)
  await silent.takes(world)
  const browser = world.visitor()
  const page = await silent.signIn(world, {}, {}, browser)
  t.equal(page.status, 200)
  t.equal(silent.forms[0]?.get('redirect_uri'), `${world.origin}/auth/oidc/callback/acme`)

  const begun = await browser.begin()
  const common = new URL(callbackOf(world, begun.json.state))
  common.pathname = '/auth/oidc/callback'
  t.match(
    (await browser.send(common.href)).json,
    { status: 400 },
    'a response at the common callback is refused',
  )
})
