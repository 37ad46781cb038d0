/**
 * A provider that is down, slow or malformed: 503 for its own tenant, no effect on others, and recovery without a
 * restart. None of its responses redirects the gateway's requests.
 */

import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { Test } from 'tap'
import t from 'tap'
import type { Page } from '../sign-in/visitor.ts'
import { openOidc, openStore } from './component.ts'
import { callbackOf, CLIENT, HostileProvider } from './hostile-provider.ts'
import { OIDC_DEFAULTS } from './provider.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'
import type { ProviderLimits } from '../../src/config/provider-limits.ts'
import { until } from '../support/until.ts'
import { freshWorld, sessions, type SignInWorld } from './world.ts'

const DISCOVERY = '/.well-known/openid-configuration'
/** Valid except for its size. */
const huge = (good: object) => ({ body: { ...good, padding: 'a'.repeat(2 * 1024 * 1024) } })
/** For a provider that never answers. Others have the patience of the world: their own faults are refused. */
const QUICK = { limits: { total: 2000 } }

function unavailable(t: Test, page: Page, what: string): void {
  t.match(page.json, { status: 503, code: 'unavailable', detail: /identity provider/ }, what)
  t.equal(page.headers['set-cookie'], undefined, what)
}

/** Asks until the status is 200, because a failed read is not repeated at once. */
function recovered(ask: () => Promise<Page>, what: string): Promise<void> {
  return until(async () => (await ask()).status === 200, `a recovery: ${what}`, { pause: 50 })
}

/** The limits of a case by its name. */
function limitsOf(name: string): { readonly limits?: ProviderLimits } {
  return name.startsWith('never') ? QUICK : {}
}

/** The provider of a case by its name, whose discovery is read already, so that its limits hold for what follows alone. */
async function discovered(world: SignInWorld, provider: HostileProvider, name: string): Promise<void> {
  await provider.takes(world, limitsOf(name))
  await recovered(() => world.visitor().begin(), `${name}: discovery`)
}

async function hostileWorld(
  t: Test,
  options = {},
): Promise<{ world: SignInWorld; provider: HostileProvider }> {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  await provider.takes(world, options)
  return { world, provider }
}

t.test('discovery', async (t) => {
  const { world, provider } = await hostileWorld(t)
  const good = provider.answers.get(DISCOVERY)
  if (good === undefined) throw new Error('no discovery')
  const elsewhere = await HostileProvider.start(t)
  const bad: Record<string, Parameters<typeof provider.answers.set>[1]> = {
    'never answers': () => null,
    'not found': () => ({ status: 404, body: {} }),
    'an error': () => ({ status: 500, body: {} }),
    'a redirect': () => ({ status: 302, headers: { location: `${elsewhere.issuer}${DISCOVERY}` }, body: '' }),
    'no JSON': () => ({ body: '<html>' }),
    'no object': () => ({ body: [] }),
    nothing: () => ({ body: '' }),
    huge: () => huge(good(new URLSearchParams(), {})?.body as object),
    'compressed without Accept-Encoding': () => ({
      headers: { 'content-encoding': 'gzip' },
      body: '\x1f\x8b',
    }),
  }
  const metadata: Record<string, Record<string, unknown>> = {
    'another issuer': { issuer: elsewhere.issuer },
    'the issuer with a slash more': { issuer: `${provider.issuer}/` },
    'no issuer': { issuer: undefined },
    'no token endpoint': { token_endpoint: undefined },
    'no keys': { jwks_uri: undefined },
    'no authorization endpoint': { authorization_endpoint: undefined },
    'an authorization endpoint that is a script': { authorization_endpoint: 'javascript:alert(1)' },
    'an authorization endpoint without TLS, elsewhere': {
      authorization_endpoint: 'http://evil.example/authorize',
    },
    'a token endpoint without TLS, elsewhere': { token_endpoint: 'http://192.0.2.1/token' },
    'a token endpoint that is a number': { token_endpoint: 7 },
    'keys in a file': { jwks_uri: 'file:///etc/passwd' },
    'userinfo without TLS, elsewhere': { userinfo_endpoint: 'http://127.0.0.1.evil.example/' },
    'a sign-out page that is data': { end_session_endpoint: 'data:text/html,x' },
  }
  for (const [name, answer] of Object.entries(bad)) {
    await provider.takes(world, limitsOf(name))
    provider.answers.set(DISCOVERY, answer)
    unavailable(t, await world.visitor().begin(), name)
    provider.answers.set(DISCOVERY, good)
    await recovered(() => world.visitor().begin(), name)
  }
  for (const [name, changes] of Object.entries(metadata)) {
    await provider.takes(world)
    provider.metadata = changes
    unavailable(t, await world.visitor().begin(), name)
  }
  t.equal(elsewhere.requestCounts.size, 0, 'no redirect was followed')
  for (const line of world.events('sign_in_failed')) t.equal(line.tenant, 'acme')
  t.match(JSON.stringify(world.lines()), 'differs from the configured issuer', 'the log has the reason')
})

t.test('keys', async (t) => {
  const { world, provider } = await hostileWorld(t)
  const good = provider.answers.get('/jwks')
  if (good === undefined) throw new Error('no keys')
  const [key = {}] = provider.keys
  const bad: Record<string, Parameters<typeof provider.answers.set>[1]> = {
    'never answered': () => null,
    'an error': () => ({ status: 500, body: {} }),
    'a redirect': () => ({ status: 307, headers: { location: `${provider.issuer}/elsewhere` }, body: '' }),
    'no JSON': () => ({ body: 'x' }),
    'no keys': () => ({ body: {} }),
    'keys that are no list': () => ({ body: { keys: 'x' } }),
    huge: () => huge(good(new URLSearchParams(), {})?.body as object),
    'a point that is not on the curve': () => ({ body: { keys: [{ ...key, x: 'A'.repeat(43) }] } }),
    'the same member twice': () => ({ body: `{"keys":[],"keys":[${JSON.stringify(key)}]}` }),
  }
  for (const [name, answer] of Object.entries(bad)) {
    await discovered(world, provider, name)
    provider.answers.set('/jwks', answer)
    unavailable(t, await provider.signIn(world), name)
    const validate = { tenant: 'acme', id_token: await provider.sign(provider.claims({ nonce: 'x' })) }
    const ask = () => world.visitor().postJson(`${world.origin}/auth/oidc/validate`, validate)
    unavailable(t, await ask(), `${name}, at validate`)
    provider.answers.set('/jwks', good)
    if (name.startsWith('a point')) continue
    await recovered(ask, name)
  }
  t.equal(provider.count('/elsewhere'), 0)
  t.equal(sessions(world).length, 0)
})

t.test('the token endpoint', async (t) => {
  const { world, provider } = await hostileWorld(t)
  const bad: Record<string, Parameters<typeof provider.answers.set>[1]> = {
    'never answers': () => null,
    'an error': () => ({ status: 500, body: {} }),
    'a redirect': () => ({ status: 307, headers: { location: `${provider.issuer}/elsewhere` }, body: '' }),
    'no JSON': () => ({ body: '<html>' }),
    huge: () => huge({ access_token: 'x', token_type: 'Bearer' }),
    'no access token': () => ({ body: { token_type: 'Bearer', id_token: 'x.y.z' } }),
    'an ID token that is no text': () => ({
      body: { access_token: 'x', token_type: 'Bearer', id_token: {} },
    }),
    'another kind of token': () => ({ body: { access_token: 'x', token_type: 'mac' } }),
    'the same member twice': () => ({
      body: '{"access_token":"x","access_token":"y","token_type":"Bearer"}',
    }),
    'an unknown client': () => ({ status: 401, body: { error: 'invalid_client' } }),
  }
  for (const [name, answer] of Object.entries(bad)) {
    await discovered(world, provider, name)
    provider.answers.set('/token', answer)
    const browser = world.visitor()
    const begun = await browser.begin()
    const page = await browser.send(callbackOf(world, begun.json.state))
    t.match(page.json, { status: 503, code: 'unavailable' }, name)
  }
  t.equal(provider.count('/elsewhere'), 0, 'no other address received the code')
  provider.gives(null)
  const browser = world.visitor()
  const begun = await browser.begin()
  const page = await browser.send(callbackOf(world, begun.json.state))
  t.match(page.json, { status: 401, code: 'token_invalid' }, 'no ID token, no sign-in')
})

t.test('a hanging provider delays no other tenant', async (t) => {
  const { world, provider } = await hostileWorld(t, { limits: { total: 60_000 } })
  world.user('bob', {}, world.globex)
  provider.answers.set(DISCOVERY, () => null)
  let waiting = true
  const hanging = Promise.all(Array.from({ length: 50 }, () => world.visitor().begin())).then((pages) => {
    waiting = false
    return pages
  })
  const page = await world.visitor('bob').signIn('globex')
  t.equal(page.status, 200)
  t.ok(waiting, 'the others are still pending')
  provider.release()
  for (const each of await hanging) t.equal(each.status, 503)
  t.equal(provider.count(DISCOVERY), 1, 'all of them share one timeout')
})

t.test('requests do not each query a provider that is down', async (t) => {
  const { world, provider } = await hostileWorld(t)
  provider.answers.set(DISCOVERY, () => ({ status: 500, body: {} }))
  const begun = Date.now()
  for (let i = 0; i < 100; i++) await world.visitor().begin()
  const seconds = Math.ceil((Date.now() - begun) / 1000)
  t.ok(provider.count(DISCOVERY) <= seconds + 1, `${provider.count(DISCOVERY)} reads in ${seconds} s`)
})

t.test('requests beyond the limit of pending ones are refused', async (t) => {
  const { world, provider } = await hostileWorld(t, { limits: { total: 60_000, maxRequests: 5 } })
  const begun = await Promise.all(
    Array.from({ length: 20 }, async () => {
      const browser = world.visitor()
      return { browser, state: (await browser.begin()).json.state as string }
    }),
  )
  provider.answers.set('/token', () => null)
  const pages: Page[] = []
  const sent = begun.map(async ({ browser, state }) => {
    pages.push(await browser.send(callbackOf(world, state)))
  })
  await until(
    () => pages.length === 15 && provider.count('/token') === 5,
    () => `${pages.length} were refused, and ${provider.count('/token')} reached the provider`,
  )
  provider.release()
  await Promise.all(sent)
  for (const page of pages) t.equal(page.status, 503)
})

t.test('plain HTTP that is not allowed, or not on loopback, whatever the configuration says', async (t) => {
  const provider = await HostileProvider.start(t)
  const config = {
    ...OIDC_DEFAULTS,
    clientId: CLIENT,
    clientSecret: null,
    clientAuth: null,
    scopes: ['openid'],
  }
  const redirects = { redirectUri: 'https://gw.example/auth/oidc/callback', postLogoutRedirect: null }
  const lines: object[] = []
  const warn = (fields: object) => void lines.push(fields)
  const store = await openStore(t)
  const body = Buffer.from(JSON.stringify({ tenant: 'acme' }))
  const request = { query: '', rawHeaders: ['Content-Type', 'application/json'], body, requestId: 'r' }
  for (const more of [
    { issuer: provider.issuer, allowInsecure: false },
    { issuer: 'http://192.0.2.1' },
    { issuer: 'http://localhost.evil.example' },
    { issuer: 'http://127.0.0.1.evil.example' },
    { issuer: 'http://[::2]' },
  ]) {
    const log = { info: warn, warn, error: warn }
    const oidc = openOidc(t, store, { acme: { ...config, ...redirects, ...more } }, { log })
    const reply = await oidc.serve({ ...request, method: 'POST', path: '/auth/oidc/login' })
    t.match(reply, { code: 'unavailable', detail: /identity provider/ }, more.issuer)
    t.match(lines.at(-1), { event: 'sign_in_failed', reason: 'the issuer is not https' })
  }
  t.equal(lines.length, 5)
  t.equal(provider.requestCounts.size, 0, 'the provider received no request')
})

t.test('an untrusted certificate', async (t) => {
  const world = await freshWorld()
  let requests = 0
  const server = createServer(CERTIFICATES.server, (_request, response) => {
    requests++
    response.end('{}')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.teardown(() => server.close())
  const before = process.env.NODE_TLS_REJECT_UNAUTHORIZED
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  t.teardown(() => {
    if (before === undefined) delete process.env.NODE_TLS_REJECT_UNAUTHORIZED
    else process.env.NODE_TLS_REJECT_UNAUTHORIZED = before
  })
  const redirectUri = `${world.origin}/auth/oidc/callback/acme`
  const issuer = `https://localhost:${(server.address() as AddressInfo).port}`
  await world.configure({ acme: { issuer, redirectUri } })
  unavailable(t, await world.visitor().begin(), 'with any environment')
  t.equal(requests, 0)
  t.match(world.events('sign_in_failed'), [{ reason: /SELF_SIGNED_CERT_IN_CHAIN/ }])
})
