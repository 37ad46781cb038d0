/**
 * Mix-up attacks (RFC 9700, section 4.4): one tenant's provider must not receive another's code. Responses name their
 * issuer (`iss`, RFC 9207), or the tenant has a callback of its own.
 */

import t from 'tap'
import { callbackOf, HostileProvider } from './hostile-provider.ts'
import { freshWorld } from './world.ts'

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
