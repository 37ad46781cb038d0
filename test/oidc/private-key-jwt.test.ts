/**
 * `private_key_jwt` (RFC 7523): sign-ins and refreshes at a certified provider that knows the public keys alone, and what the
 * assertions contain. No assertion is in the log.
 */

import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { compactVerify, createLocalJWKSet, decodeJwt, decodeProtectedHeader, type JWK } from 'jose'
import t, { type Test } from 'tap'
import { publicKeys } from '../../src/config/provider-keys.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { callbackOf, CLIENT, HostileProvider } from './hostile-provider.ts'
import { TestProvider } from './provider.ts'
import { freshWorld, type SignInWorld } from './world.ts'

const folder = serverFolder(t, 'client-keys')

/** A key in a file. @returns the path of the file, and the public key as `seatgate check` prints it */
function newKey(kind: 'RSA' | 'P-256' | 'P-384', path = join(folder, `${kind}.pem`)) {
  const { privateKey } =
    kind === 'RSA'
      ? generateKeyPairSync('rsa', { modulusLength: 2048 })
      : generateKeyPairSync('ec', { namedCurve: kind })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  writeFileSync(path, pem, { mode: 0o600 })
  const [jwk] = publicKeys({ clientKey: pem, decryptionKeys: [] })
  return { path, pem, jwk: jwk as JWK & { readonly kid: string } }
}

const KEYS = { RSA: newKey('RSA'), 'P-256': newKey('P-256'), 'P-384': newKey('P-384') }
const reasons = (world: SignInWorld) => world.events('sign_in_failed').map(({ reason }) => String(reason))

/** A gateway whose tenant acme signs in at a certified provider that knows these public keys. */
async function atCertified(t: Test, registered: readonly JWK[]) {
  const world = await freshWorld()
  for (const { pem } of Object.values(KEYS)) world.secrets.add(pem.split('\n')[2] ?? '')
  const redirectUri = `${world.origin}/auth/oidc/callback/acme`
  const client = {
    token_endpoint_auth_method: 'private_key_jwt',
    client_secret: undefined,
    jwks: { keys: registered },
  }
  const provider = await TestProvider.start(t, { redirectUri, client })
  provider.user('alice', { memberOf: [] })
  const take = (clientKey: string) =>
    world.configure({
      acme: { ...provider.config({ redirectUri }), clientAuth: null, clientSecret: null, clientKey },
    })
  return { world, take }
}

t.test('sign-in and refresh with each kind of key, by default settings', async (t) => {
  for (const { path, jwk } of [KEYS.RSA, KEYS['P-256']]) {
    const { world, take } = await atCertified(t, [jwk])
    await take(path)
    const page = await world.visitor().signIn()
    t.equal(page.status, 200, path)
    const again = await world
      .visitor()
      .postJson(`${world.origin}/auth/oidc/refresh`, { refresh_token: page.json.refresh_token })
    t.equal(again.status, 200)
    t.same(reasons(world), [])
  }
})

t.test('a key that the provider does not know; the reload of its file', async (t) => {
  const changing = newKey('P-256', join(folder, 'changing.pem'))
  const { world, take } = await atCertified(t, [KEYS['P-256'].jwk])
  await take(changing.path)
  t.match((await world.visitor().signIn()).json, { status: 503, code: 'unavailable' })
  t.match(reasons(world), [/invalid_client .*private_key_jwt: check client_id, .* public key of client_key/])
  writeFileSync(changing.path, KEYS['P-256'].pem)
  await world.gateway.reload()
  t.equal((await world.visitor().signIn()).status, 200)
})

async function atHostile(t: Test, clientKey: string, metadata: Record<string, unknown> = {}) {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = metadata
  await provider.takes(world, { acme: { clientKey } })
  const assertions = () =>
    provider.forms.map((form) => {
      world.secrets.add(form.get('client_assertion') ?? '')
      return form.get('client_assertion') ?? ''
    })
  return { world, provider, assertions }
}

t.test('what an assertion says', async (t) => {
  const { path, jwk } = KEYS['P-256']
  const { world, provider, assertions } = await atHostile(t, path)
  for (let i = 0; i < 2; i++) t.equal((await provider.signIn(world)).status, 200)
  const claims = assertions().map((text) => decodeJwt(text))
  for (const [at, text] of assertions().entries()) {
    await compactVerify(text, createLocalJWKSet({ keys: [jwk] }), { algorithms: ['ES256'] })
    t.strictSame(decodeProtectedHeader(text), { alg: 'ES256', kid: jwk.kid })
    const { iat = 0, exp = 0 } = claims[at] ?? {}
    t.match(claims[at], { iss: CLIENT, sub: CLIENT, aud: provider.issuer, jti: /^[\w-]{20,}$/ })
    t.ok(exp - iat <= 60 && Math.abs(iat - Date.now() / 1000) < 60)
    const form = provider.forms[at]
    t.match(form?.get('client_assertion_type'), 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer')
    t.notOk(form?.has('client_secret'))
  }
  t.not(claims[0]?.jti, claims[1]?.jti, 'a provider that remembers assertions refuses none')
})

t.test('an assertion is no credential at the gateway', async (t) => {
  const { world, provider, assertions } = await atHostile(t, KEYS['P-256'].path)
  await provider.signIn(world)
  const [assertion = ''] = assertions()
  const answer = await world
    .visitor()
    .postJson(`${world.origin}/auth/oidc/validate`, { tenant: 'acme', id_token: assertion })
  t.match(answer.json, { status: 401, code: 'token_invalid' })
  t.equal((await world.visitor().ask('/v1/me', { token: assertion })).status, 401)
  // A provider that sends it back as its ID token.
  t.match((await provider.signIn(world, () => assertion)).json, { status: 401, code: 'token_invalid' })
})

t.test('the algorithm is one of the key that the provider verifies', async (t) => {
  for (const [kind, advertised, algorithm] of [
    ['RSA', undefined, 'RS256'],
    ['RSA', ['ES256', 'PS256'], 'PS256'],
    ['RSA', ['PS256', 'RS256'], 'RS256'],
    ['RSA', ['PS512'], 'PS512'],
    ['P-384', undefined, 'ES384'],
    ['P-384', ['RS256', 'ES256', 'ES384'], 'ES384'],
  ] as const) {
    const { path, jwk } = KEYS[kind]
    const { world, provider, assertions } = await atHostile(t, path, {
      token_endpoint_auth_signing_alg_values_supported: advertised,
    })
    t.equal((await provider.signIn(world)).status, 200)
    const [assertion = ''] = assertions()
    t.equal(decodeProtectedHeader(assertion).alg, algorithm)
    await compactVerify(assertion, createLocalJWKSet({ keys: [jwk] }))
  }
})

t.test('a provider that takes no such assertion: nothing is sent, and the log says why', async (t) => {
  for (const [metadata, reason] of [
    [
      { token_endpoint_auth_methods_supported: ['client_secret_basic'] },
      /does not support private_key_jwt, which client_key is for/,
    ],
    [
      { token_endpoint_auth_signing_alg_values_supported: ['ES256', 'HS256'] },
      /verifies assertions by ES256, HS256, and client_key signs by RS256, PS256, /,
    ],
    [{ token_endpoint_auth_signing_alg_values_supported: [] }, /verifies assertions by no algorithm/],
  ] as const) {
    const { world, provider } = await atHostile(t, KEYS.RSA.path, metadata)
    const begun = await world.visitor().begin()
    t.match(begun.json, { status: 503, code: 'unavailable' })
    t.match(reasons(world), [reason])
    t.equal((await world.visitor().send(callbackOf(world, 'x'))).status, 400)
    t.equal(provider.count('/token'), 0)
  }
})

t.test('client_auth outweighs the discovery document', async (t) => {
  const world = await freshWorld()
  const provider = await HostileProvider.start(t)
  provider.metadata = { token_endpoint_auth_methods_supported: ['client_secret_basic'] }
  await provider.takes(world, { acme: { clientKey: KEYS.RSA.path, clientAuth: 'private_key_jwt' } })
  t.equal((await provider.signIn(world)).status, 200)
  const [form] = provider.forms
  t.ok(form?.has('client_assertion'))
  world.secrets.add(form?.get('client_assertion') ?? '')
})
