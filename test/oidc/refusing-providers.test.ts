/**
 * Providers that require what the gateway does not do: a certified one with each setting, and a server that speaks the dialect
 * of another. The log says why, and what to do; the page of the user does not say that the sign-in was cancelled.
 */

import { randomUUID } from 'node:crypto'
import { exportJWK, generateKeyPair } from 'jose'
import t, { type Test } from 'tap'
import type { OidcConfig } from '../../src/config/config.ts'
import { ProviderError } from '../../src/oidc/provider/provider-errors.ts'
import { inspectProvider } from '../../src/oidc/provider/inspect-provider.ts'
import { NAVIGATION } from '../sign-in/visitor.ts'
import { ACCESS_TOKEN, type Claims, HostileProvider } from './hostile-provider.ts'
import { type ProviderOptions, TestProvider } from './provider.ts'
import { freshWorld, seat, sessions } from './world.ts'

const { publicKey } = await generateKeyPair('RSA-OAEP', { extractable: true })
const jwks = { keys: [{ ...(await exportJWK(publicKey)), use: 'enc', kid: 'e', alg: 'RSA-OAEP' }] }

/** A sign-in of a browser at a provider with these settings. */
async function signInAt(t: Test, options: Partial<ProviderOptions>) {
  const world = await freshWorld()
  const redirectUri = `${world.origin}/auth/oidc/callback/acme`
  const provider = await TestProvider.start(t, { redirectUri, ...options })
  provider.user('alice', { memberOf: [] })
  const config = provider.config({ redirectUri })
  await world.configure({ acme: config })
  const browser = world.visitor()
  const answer = await browser.answer('acme', { return_to: '/pages/a' })
  const page = await browser.send(answer.href, { headers: NAVIGATION })
  return { world, provider, config, page, reason: String(world.events('sign_in_failed').at(-1)?.['reason']) }
}

const oidcOf = (config: OidcConfig) => inspectProvider(config)

t.test('encrypted ID tokens', async (t) => {
  const client = { jwks, id_token_encrypted_response_alg: 'RSA-OAEP' }
  const { page, reason } = await signInAt(t, { features: { encryption: { enabled: true } }, client })
  t.equal(page.status, 401)
  t.match(page.body, 'The ID token is encrypted')
  t.match(
    reason,
    'The ID token is encrypted, and the tenant has no decryption_keys: add them, or have the provider only',
  )
})

t.test('encrypted userinfo, and signed one', async (t) => {
  const features = { encryption: { enabled: true }, jwtUserinfo: { enabled: true } }
  const signed = { jwks, userinfo_signed_response_alg: 'RS256' }
  const client = { ...signed, userinfo_encrypted_response_alg: 'RSA-OAEP' }
  const { page, reason, world } = await signInAt(t, { claimsInIdToken: false, features, client })
  t.equal(page.status, 503)
  t.match(reason, 'userinfo is encrypted, which the gateway does not read')
  t.match(world.events('sign_in_failed').at(-1), { level: 'warn', user: 'alice' })
  const other = await signInAt(t, { claimsInIdToken: false, features, client: signed })
  t.equal(other.page.status, 303)
})

t.test('tokens bound to a key by DPoP', async (t) => {
  const features = { dPoP: { enabled: true } }
  const { page, reason } = await signInAt(t, { features, client: { dpop_bound_access_tokens: true } })
  t.equal(page.status, 401)
  t.match(reason, /^the code: the provider responded with invalid_grant .* turn off DPoP for this client\)$/)
})

t.test('pushed requests and signed requests that are required of this client alone', async (t) => {
  const pushed = { pushedAuthorizationRequests: { enabled: true } }
  for (const [options, advice] of [
    [
      { features: pushed, client: { require_pushed_authorization_requests: true } },
      '(the gateway pushes authorization requests only where the discovery document requires them of every client: ',
    ],
    [
      { features: { requestObjects: { enabled: true } }, client: { require_signed_request_object: true } },
      '(the gateway sends no signed request objects: do not require them of this client)',
    ],
  ] as const) {
    const { page, reason, world, config } = await signInAt(t, options)
    t.equal(page.status, 401)
    t.match(page.body, 'The identity provider refused the request of this gateway.')
    t.notMatch(page.body, 'cancelled')
    t.match(reason, advice)
    t.match(world.events('sign_in_failed').at(-1), { level: 'warn' })
    t.ok((await oidcOf(config)).keys, 'the document does not say what a client must do')
  }
})

t.test('what the discovery document requires that the gateway does not do', async (t) => {
  const { provider, world } = await hostile(t)
  const refusing = async (metadata: Claims, more: Partial<OidcConfig> = {}) => {
    provider.metadata = metadata
    const config = { ...world.acme.config(), issuer: provider.issuer, clientSecret: null, clientAuth: null }
    return oidcOf({ ...config, ...more }).then(
      ({ keys }) => keys,
      (cause: unknown) => (cause instanceof ProviderError ? cause.message : cause),
    )
  }
  t.equal(await refusing({}), 1)
  const fault = (text: string, member: string) => `${text} (${member})`
  for (const [metadata, message, more] of [
    [
      { require_signed_request_object: true },
      fault(
        'it requires signed request objects of every client, which the gateway does not send',
        'require_signed_request_object',
      ),
    ],
    [
      { response_types_supported: ['id_token', 'code id_token'] },
      fault(
        'it offers authorization responses of other types alone, and the gateway uses code',
        'response_types_supported: id_token, code id_token',
      ),
    ],
    [
      { response_modes_supported: ['form_post'] },
      fault(
        'it offers other modes of the authorization response alone, and the gateway uses query',
        'response_modes_supported: form_post',
      ),
    ],
    [
      { grant_types_supported: [] },
      fault(
        'it offers other grants alone, and the gateway uses authorization_code',
        'grant_types_supported: none',
      ),
    ],
    [
      { code_challenge_methods_supported: ['plain'] },
      fault(
        'it offers other methods of PKCE alone, and the gateway uses S256',
        'code_challenge_methods_supported: plain',
      ),
    ],
    [
      { id_token_signing_alg_values_supported: ['HS256', 'none'] },
      fault(
        'it signs ID tokens by no algorithm that the gateway accepts: set id_token_signing_alg: HS256',
        'id_token_signing_alg_values_supported: HS256, none',
      ),
    ],
    [
      { id_token_signing_alg_values_supported: ['ES256'] },
      fault('it does not sign ID tokens by HS256', 'id_token_signing_alg_values_supported: ES256'),
      { idTokenSigningAlg: 'HS256', clientSecret: 'x'.repeat(32) },
    ],
    [
      { token_endpoint_auth_methods_supported: ['tls_client_auth'] },
      'the provider supports neither client_secret_basic nor client_secret_post',
      { clientSecret: 's' },
    ],
    [
      { require_pushed_authorization_requests: true },
      "the provider's pushed_authorization_request_endpoint is missing or not a string",
    ],
    [
      { require_signed_request_object: true, grant_types_supported: ['implicit'], token_endpoint: undefined },
      "it requires signed request objects of every client, which the gateway does not send (require_signed_request_object); it offers other grants alone, and the gateway uses authorization_code (grant_types_supported: implicit); the provider's token_endpoint is missing or not a string",
    ],
  ] as const)
    t.equal(await refusing(metadata, more), message)
})

t.test('who cancels is told so', async (t) => {
  const world = await freshWorld()
  world.user('alice', {})
  for (const error of ['access_denied', 'login_required', 'user_cancelled_login']) {
    const browser = world.visitor()
    const answer = await browser.answer('acme', { return_to: '/pages/a' })
    answer.searchParams.set('error', error)
    const page = await browser.send(answer.href, { headers: NAVIGATION })
    t.match(page.body, 'The sign-in was cancelled, or the identity provider did not allow it.', error)
    t.match(world.events('sign_in_failed').at(-1), { level: 'info' })
  }
})

async function hostile(t: Test) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = { userinfo_endpoint: `${provider.issuer}/userinfo` }
  await provider.takes(world)
  const lastReason = () => String(world.events('sign_in_failed').at(-1)?.['reason'])
  return { world, provider, lastReason }
}

t.test('errors about a code in the words of each provider', async (t) => {
  const { world, provider, lastReason } = await hostile(t)
  const statusOf = async (status: number, error: string) => {
    const browser = world.visitor()
    const state = new URL((await browser.begin()).json.authorization_url).searchParams.get('state') ?? ''
    provider.answers.set('/token', () => ({ status, body: { error } }))
    return browser.send(
      `${world.origin}/auth/oidc/callback/acme?${new URLSearchParams({ code: 'used', state })}`,
    )
  }
  for (const [status, error] of [
    [400, 'invalid_grant'],
    [403, 'invalid_code'],
    [400, 'bad_verification_code'],
    [400, 'code_expired'],
  ] as const) {
    t.match((await statusOf(status, error)).json, { status: 401, code: 'token_invalid' }, error)
    t.match(lastReason(), 'the code: the provider responded with ')
  }
  for (const [status, error] of [
    [400, 'unsupported_grant_type'],
    [400, 'invalid_request'],
    [401, 'invalid_client'],
    [500, 'invalid_code'],
    [429, 'invalid_code'],
    [400, 'invalid_encoding'],
  ] as const)
    t.match((await statusOf(status, error)).json, { status: 503 }, `${status} ${error}: not by the user`)
  t.match((await statusOf(400, 'invalid_dpop_proof')).json, { status: 503 })
  t.match(lastReason(), 'turn off DPoP for this client')
})

t.test('a token response with another type of token, or without an ID token', async (t) => {
  const { world, provider, lastReason } = await hostile(t)
  await provider.signIn(world, {}, { token_type: 'DPoP' })
  t.match(lastReason(), /other than Bearer, DPoP \(the gateway has no key/)
  const browser = world.visitor()
  const state = new URL((await browser.begin()).json.authorization_url).searchParams.get('state') ?? ''
  provider.gives(null)
  const page = await browser.send(
    `${world.origin}/auth/oidc/callback/acme?${new URLSearchParams({ code: 'a', state })}`,
  )
  t.match(page.json, { status: 401, code: 'token_invalid' })
  t.match(lastReason(), 'The token response of the identity provider has no id_token')
})

t.test('userinfo that is no userinfo', async (t) => {
  const { world, provider, lastReason } = await hostile(t)
  for (const [body, reason] of [
    ['null', 'userinfo is not a JSON object'],
    ['[]', 'userinfo is not a JSON object'],
    ['[{"sub":"alice"}]', 'userinfo is not a JSON object'],
    ['"alice"', 'userinfo is not a JSON object'],
    ['7', 'userinfo is not a JSON object'],
    ['', 'userinfo cannot be read: '],
    ['{"sub":"alice","sub":"alice"}', 'userinfo cannot be read: an object has the same member twice'],
    ['{}', 'userinfo has no sub'],
    ['{"sub":null,"email":"a@acme.example"}', 'userinfo has no sub'],
    ['{"email":"a@acme.example"}', 'userinfo has no sub'],
  ] as const) {
    provider.answers.set('/userinfo', () => ({ body }))
    t.equal((await provider.signIn(world)).status, 200, `asked only for an address: ${body}`)
    t.match(world.events('userinfo_unread').at(-1)?.['reason'], reason)
    const { status } = await provider.signIn(world, { memberOf: undefined })
    const isNamed = reason !== 'userinfo has no sub'
    t.equal(status, isNamed ? 503 : 401, `asked for Seats: ${body}`)
    t.match(lastReason(), isNamed ? reason : 'The sub of userinfo differs')
  }
})

const EVENTS = { 'http://schemas.openid.net/event/backchannel-logout': {} }

t.test('a logout token without exp is good for two minutes', async (t) => {
  const { world, provider } = await hostile(t)
  await seat(world, 'Viewer', ['s1'])
  const now = () => Math.floor(Date.now() / 1000)
  const token = async (more: Claims) => {
    const { iss, aud } = provider.claims()
    return provider.sign(
      { iss, aud, sub: 'alice', iat: now(), jti: randomUUID(), events: EVENTS, ...more },
      { typ: 'logout+jwt' },
    )
  }
  const post = async (more: Claims) =>
    (
      await world
        .visitor()
        .post(`${world.origin}/auth/oidc/backchannel-logout`, { logout_token: await token(more) })
    ).status
  t.equal((await provider.signIn(world)).status, 200)
  const first = { jti: randomUUID(), iat: now() }
  t.equal(await post(first), 200)
  t.equal(await post(first), 400, 'it is used up as any other is')
  t.ok(sessions(world).every(({ endedAt }) => endedAt !== null))
  t.equal(await post({ iat: now() - 120 }), 200, 'within the leeway of 60 s')
  for (const more of [
    { iat: now() - 200 },
    { iat: undefined },
    { iat: String(now()) },
    { exp: null },
    { exp: 'never' },
    { iat: now() + 600 },
  ])
    t.equal(await post(more), 400, JSON.stringify(more))
})

t.test('a form signs out at a provider that has no address for it', async (t) => {
  const { world, provider } = await hostile(t)
  await provider.takes(world, { acme: { postLogoutRedirect: null } })
  const signedIn = async () => {
    const browser = world.visitor()
    const begun = await browser.begin('acme', { return_to: '/pages/a' })
    const parameters = new URL(begun.json.authorization_url).searchParams
    const [state = '', nonce] = [parameters.get('state') ?? '', parameters.get('nonce')]
    provider.gives(await provider.sign(provider.claims({ nonce, at_hash: undefined })))
    await browser.send(`${world.origin}/auth/oidc/callback/acme?${new URLSearchParams({ code: 'a', state })}`)
    return browser
  }
  provider.answers.set('/userinfo', () => ({ body: { sub: 'alice' } }))
  const browser = await signedIn()
  t.equal((await browser.ask('/v1/me')).status, 200)
  const out = () =>
    browser.post(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin, ...NAVIGATION })
  const page = await browser.onward(await out())
  t.equal(page.status, 200)
  t.match(page.headers, { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store' })
  t.match(page.headers['content-security-policy'], /default-src 'none'/)
  t.match(page.body, 'You are signed out')
  t.equal((await browser.ask('/v1/me')).status, 401)
  t.equal((await out()).status, 200, 'without a session too')

  await provider.takes(world)
  const back = await (await signedIn()).post(`${world.origin}/auth/oidc/logout`, {}, { origin: world.origin })
  t.equal(back.headers.location, `${world.origin}/bye`, 'the page of the configuration comes first')
  t.notMatch(page.body, ACCESS_TOKEN)
})
