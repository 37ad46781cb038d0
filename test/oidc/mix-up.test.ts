/**
 * Mix-up (RFC 9700, section 4.4): one tenant's provider must not get another's code, whatever it does. Answers say whose
 * they are (`iss`, RFC 9207), or the tenant has a callback of its own.
 */

import t from 'tap'
import { callbackOf, HostileProvider } from './hostile-provider.ts'
import { startWorld } from './world.ts'

t.test('an answer that says another issuer, or none, where the provider always does', async (t) => {
  const world = await startWorld(t)
  world.user('alice', {})
  const browser = world.browser()
  const changes: ((query: URLSearchParams) => void)[] = [
    (query) => query.set('iss', world.globex.issuer),
    (query) => query.set('iss', `${world.acme.issuer}/`),
    (query) => query.set('iss', world.acme.issuer.toUpperCase()),
    (query) => query.set('iss', ''),
    (query) => query.append('iss', world.acme.issuer),
    (query) => query.delete('iss'),
  ]
  for (const change of changes) {
    const answer = await world.answer(browser)
    change(answer.searchParams)
    const page = await browser.send(answer.href)
    t.match(page.json, { status: 400, code: 'input_invalid', errors: [{ path: '/iss' }] })
  }
  t.equal(world.acme.count('/token'), 0, 'no token request')
})

t.test("a hostile tenant's provider sends the browser to an honest one, under its own state", async (t) => {
  const world = await startWorld(t)
  const hostile = await HostileProvider.start(t)
  // It says that it sends iss, to be let in at the common address.
  hostile.metadata = { authorization_response_iss_parameter_supported: true }
  await hostile.takes(world, { acme: { redirectUri: `${world.origin}/auth/oidc/callback` } })
  world.user('victim', { memberOf: [] }, world.globex)
  const browser = world.browser('victim')

  // The victim begins at the hostile provider, which passes state, nonce and challenge on to the honest one.
  const begun = await world.begin(browser, 'acme')
  const asked = new URL(begun.json.authorization_url).searchParams
  const onward = new URL('/auth', world.globex.issuer)
  onward.search = String(asked)
  onward.searchParams.set('client_id', world.globex.config().clientId)
  const stopped = await browser.walk(onward.href, (url) => url.startsWith(`${world.origin}/`))
  const answer = new URL(stopped.headers.location ?? 'nowhere:')
  t.ok(
    answer.searchParams.get('code'),
    "the honest provider gave the victim's code, under the hostile one's state",
  )

  const page = await browser.send(answer.href)
  t.match(page.json, { status: 400, errors: [{ path: '/iss' }] })
  t.equal(hostile.forms.length, 0, 'the hostile provider did not get the code')
})

t.test('a provider that does not say iss, at an address that another tenant has too', async (t) => {
  const world = await startWorld(t)
  const silent = await HostileProvider.start(t)
  await silent.takes(world, { acme: { redirectUri: `${world.origin}/auth/oidc/callback` } })
  const page = await world.begin(world.browser())
  t.match(page.json, { status: 503, code: 'unavailable' }, 'no sign-in')
  t.match(world.events('sign_in_failed'), [{ tenant: 'acme', reason: /redirect_uri/ }], 'the log says why')
})

t.test('with an address of its own it signs in', async (t) => {
  const world = await startWorld(t)
  const silent = await HostileProvider.start(t)
  await silent.takes(world)
  const browser = world.browser()
  const page = await silent.signIn(world, browser, (nonce) => silent.sign(silent.claims({ nonce })))
  t.equal(page.status, 200)
  t.equal(silent.forms[0]?.get('redirect_uri'), `${world.origin}/auth/oidc/callback/acme`)

  const begun = await world.begin(browser)
  const common = new URL(callbackOf(world, begun.json.state))
  common.pathname = '/auth/oidc/callback'
  t.match((await browser.send(common.href)).json, { status: 400 }, 'an answer to the common address is none')
})
