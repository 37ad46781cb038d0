/**
 * Pushed authorization requests (RFC 9126), where the discovery document requires them: at a certified provider, and at one
 * whose endpoint fails or answers nonsense. The browser sees a reference alone.
 */

import t, { type Test } from 'tap'
import { NAVIGATION } from '../sign-in/visitor.ts'
import { callbackOf, CLIENT, HostileProvider } from './hostile-provider.ts'
import { TestProvider } from './provider.ts'
import { freshWorld, type SignInWorld } from './world.ts'

const REFERENCE = 'urn:ietf:params:oauth:request_uri:abc'
const reasons = (world: SignInWorld) => world.events('sign_in_failed').map(({ reason }) => String(reason))

async function certified(t: Test, requirePushedAuthorizationRequests: boolean) {
  const world = await freshWorld()
  const redirectUri = `${world.origin}/auth/oidc/callback/acme`
  const features = { pushedAuthorizationRequests: { enabled: true, requirePushedAuthorizationRequests } }
  const provider = await TestProvider.start(t, { redirectUri, features })
  provider.user('alice', { memberOf: [] })
  return {
    world,
    provider,
    take: (more = {}) => world.configure({ acme: provider.config({ redirectUri, ...more }) }),
  }
}

t.test('a certified provider that requires them: programs, browsers, each kind of client', async (t) => {
  const { world, provider, take } = await certified(t, true)
  for (const clientAuth of ['client_secret_basic', 'client_secret_post', 'none'] as const) {
    await take({ clientAuth })
    const begun = await world.visitor().begin()
    const url = new URL(begun.json.authorization_url)
    t.same([...url.searchParams.keys()].sort(), ['client_id', 'request_uri'], clientAuth)
    const page = await world.visitor().signIn()
    t.match([page.status, page.json.user], [200, { sub: 'alice' }])
  }
  const visitor = world.visitor()
  t.equal((await visitor.page('/pages/a')).status, 200)
  t.ok(provider.count('/request') >= 7)
  t.same(reasons(world), [])
})

t.test('a certified provider that only offers them gets none', async (t) => {
  const { world, provider, take } = await certified(t, false)
  await take()
  t.equal((await world.visitor().signIn()).status, 200)
  t.equal(provider.count('/request'), 0)
})

async function hostile(t: Test, more: Parameters<HostileProvider['takes']>[1] = {}) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = {
    require_pushed_authorization_requests: true,
    pushed_authorization_request_endpoint: `${provider.issuer}/par`,
  }
  await provider.takes(world, more)
  return { world, provider }
}

t.test('what is pushed: the whole request, and nothing of it is in the address', async (t) => {
  const { world, provider } = await hostile(t)
  const forms: URLSearchParams[] = []
  provider.answers.set('/par', (form) => {
    forms.push(form)
    return { status: 201, body: { request_uri: REFERENCE, expires_in: 60 } }
  })
  const browser = world.visitor()
  const begun = await browser.begin('acme', { prompt: 'login' })
  const url = new URL(begun.json.authorization_url)
  t.same(Object.fromEntries(url.searchParams), { client_id: CLIENT, request_uri: REFERENCE })
  t.match(Object.fromEntries(forms[0] ?? []), {
    ...{ client_id: CLIENT, response_type: 'code', state: begun.json.state, code_challenge_method: 'S256' },
    ...{ nonce: /./, code_challenge: /^[\w-]{43}$/, prompt: 'login' },
    redirect_uri: `${world.origin}/auth/oidc/callback/acme`,
  })
  const idToken = await provider.sign(provider.claims({ nonce: forms[0]?.get('nonce') }))
  world.secrets.add(idToken)
  provider.gives(idToken)
  t.equal((await browser.send(callbackOf(world, begun.json.state))).status, 200)
})

t.test(
  'an endpoint that fails, or answers nonsense: nothing begins, and the log has the reason',
  async (t) => {
    const { world, provider } = await hostile(t)
    const answer = { request_uri: REFERENCE, expires_in: 60 }
    const LONG = `urn:${'x'.repeat(2048)}`
    for (const [status, body, reason, headers = {}] of [
      [500, 'no', /the pushed request: the provider responded with 500/],
      [404, '', /responded with 404/],
      [302, '', /responded with 302/, { location: 'https://evil.example/par' }],
      [200, answer, /responded with 200/],
      [400, { error: 'invalid_request' }, /responded with invalid_request/],
      [400, { error: 'invalid_grant' }, /responded with invalid_grant/],
      [400, { error: 'invalid_scope' }, /invalid_scope \(set scopes without offline_access/],
      [401, { error: 'invalid_client' }, /invalid_client .*authenticates by none: check client_id/],
      [429, { error: 'temporarily_unavailable' }, /temporarily_unavailable/],
      [201, 'no JSON', /has no request_uri/],
      [201, '[]', /has no request_uri/],
      [201, '{"request_uri":"urn:a","request_uri":"urn:b","expires_in":1}', /has no request_uri/],
      [201, { expires_in: 60 }, /has no request_uri/],
      [201, { ...answer, request_uri: '' }, /has no request_uri/],
      [201, { ...answer, request_uri: 7 }, /has no request_uri/],
      [201, { ...answer, request_uri: 'urn:a\r\nSet-Cookie: a=b' }, /has no request_uri/],
      [201, { ...answer, request_uri: LONG }, /has no request_uri/],
      [201, 'x'.repeat(1024 * 1024 + 1), /the provider is unreachable/],
    ] as const) {
      provider.answers.set('/par', () => ({ status, body, headers }))
      const begun = await world.visitor().begin()
      t.match(begun.json, { status: 503, code: 'unavailable' }, `${status} ${String(reason)}`)
      t.same(begun.headers['set-cookie'], undefined)
      t.match(reasons(world).at(-1), reason)
      const page = await world.visitor().ask('/pages/a', { headers: NAVIGATION })
      t.equal(page.status, 503)
    }
    for (const body of [answer, { request_uri: REFERENCE, expires_in: 'soon' }, { request_uri: REFERENCE }]) {
      provider.answers.set('/par', () => ({ status: 201, body }))
      t.equal((await world.visitor().begin()).status, 200, 'expires_in only informs')
    }
  },
)

t.test('an endpoint that the gateway must not reach, or that is missing', async (t) => {
  const { world, provider } = await hostile(t)
  for (const [endpoint, reason] of [
    [
      'https://169.254.169.254/par',
      /pushed_authorization_request_endpoint is at 169.254.169.254:443, an inner/,
    ],
    ['http://login.example/par', /pushed_authorization_request_endpoint is not https/],
    [undefined, /pushed_authorization_request_endpoint is missing/],
    [7, /pushed_authorization_request_endpoint is missing or not a string/],
  ] as const) {
    provider.metadata['pushed_authorization_request_endpoint'] = endpoint
    await provider.takes(world)
    t.match((await world.visitor().begin()).json, { status: 503, code: 'unavailable' })
    t.match(reasons(world).at(-1), reason)
  }
})

t.test('the secret goes to the endpoint of its own provider alone', async (t) => {
  const { world, provider } = await hostile(t, {
    acme: { clientSecret: 'the secret of acme, 16+ characters' },
  })
  world.secrets.add('the secret of acme, 16+ characters')
  const sent: string[] = []
  provider.answers.set('/par', (_form, { authorization }) => {
    sent.push(Buffer.from(String(authorization).replace(/^Basic /, ''), 'base64').toString())
    return { status: 201, body: { request_uri: REFERENCE, expires_in: 60 } }
  })
  world.user('bob', {}, world.globex)
  await world.visitor().begin('globex')
  t.same(sent, [])
  await world.visitor().begin('acme')
  t.same(sent, ['seatgate:the+secret+of+acme%2C+16%2B+characters'])
})
