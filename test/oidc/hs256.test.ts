/**
 * `id_token_signing_alg: HS256`: sign-ins at a certified provider that signs by the client secret, and tokens of a hostile one.
 * With the setting nothing else is accepted; without it, HS256 never is.
 */

import { createHmac, generateKeyPairSync } from 'node:crypto'
import { exportSPKI, importJWK } from 'jose'
import t from 'tap'
import { env } from '../support/world.ts'
import { CLIENT_SECRET, TestProvider } from './provider.ts'
import { CLIENT, type Claims, HostileProvider } from './hostile-provider.ts'
import { freshWorld, sessions } from './world.ts'

const SECRET = 'the secret of a client, which has 32 bytes and more'
const HS256 = { clientSecret: SECRET, idTokenSigningAlg: 'HS256' } as const

const world = await freshWorld()
world.secrets.add(SECRET)
const provider = await HostileProvider.start(t)

const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

function hmac(claims: Claims, secret: string | Buffer = SECRET, header: Claims = { alg: 'HS256' }): string {
  const input = `${base64url(header)}.${base64url(claims)}`
  const hash = { HS384: 'sha384', HS512: 'sha512' }[String(header['alg'])] ?? 'sha256'
  return `${input}.${createHmac(hash, secret).update(input).digest('base64url')}`
}

type Make = (nonce: string) => string | Promise<string>

/** The codes of a sign-in and of a validation. */
async function codes(make: Make): Promise<string[]> {
  const page = await provider.signIn(world, make)
  const answer = await world
    .visitor()
    .postJson(`${world.origin}/auth/oidc/validate`, { tenant: 'acme', id_token: await make('a-nonce') })
  return [page, answer].map(({ status, json }) => (status === 200 ? '200' : String(json.code)))
}

t.test('a certified provider: sign-in, refresh, and the hash of the access token', async (t) => {
  const redirectUri = `${world.origin}/auth/oidc/callback/acme`
  const at = await TestProvider.start(t, {
    redirectUri,
    client: { id_token_signed_response_alg: 'HS256' },
    idTokenAlgorithms: ['HS256'],
  })
  at.user('alice', { memberOf: [] })
  await world.configure({ acme: { ...at.config({ redirectUri }), idTokenSigningAlg: 'HS256' } })
  const page = await world.visitor().signIn()
  t.match([page.status, page.json.user], [200, { sub: 'alice' }])
  t.equal((await world.visitor().refresh(page.json.refresh_token)).status, 200)
  t.equal(at.count('/jwks'), 0, 'the keys of the provider are not asked for')
  const wrong = `${CLIENT_SECRET}, one that the provider does not have`
  await world.configure({
    acme: { ...at.config({ redirectUri }), clientSecret: wrong, idTokenSigningAlg: 'HS256' },
  })
  t.equal((await world.visitor().signIn()).status, 503, 'the provider refuses the client')
})

t.test('accepted with the setting', async (t) => {
  await provider.takes(world, { acme: HS256 })
  for (const header of [{ alg: 'HS256' }, { alg: 'HS256', kid: 'any', typ: 'JWT' }])
    t.same(await codes((nonce) => hmac(provider.claims({ nonce }), SECRET, header)), ['200', '200'])
  provider.metadata = { jwks_uri: undefined, id_token_signing_alg_values_supported: ['RS256'] }
  await provider.takes(world, { acme: HS256 })
  t.same(await codes((nonce) => hmac(provider.claims({ nonce }))), ['200', '200'], 'without keys')
  provider.metadata = {}
})

const refused: Record<string, Make> = {
  'a valid ES256 token of the provider': (nonce) => provider.sign(provider.claims({ nonce })),
  'another secret': (nonce) => hmac(provider.claims({ nonce }), `${SECRET}.`),
  'an empty secret': (nonce) => hmac(provider.claims({ nonce }), ''),
  'the public key as the secret': async (nonce) => {
    const [jwk = {}] = provider.keys
    const key = await exportSPKI((await importJWK({ ...jwk }, 'ES256')) as never)
    return hmac(provider.claims({ nonce }), key, { alg: 'HS256', kid: 'first' })
  },
  'the key set as the secret': (nonce) =>
    hmac(provider.claims({ nonce }), JSON.stringify({ keys: provider.keys })),
  'a symmetric key that the provider publishes': (nonce) => {
    const secret = Buffer.alloc(32, 7)
    if (provider.keys.length === 1)
      provider.keys.push({ kty: 'oct', k: secret.toString('base64url'), kid: 'oct', alg: 'HS256' })
    return hmac(provider.claims({ nonce }), secret, { alg: 'HS256', kid: 'oct' })
  },
  'HS384 by the secret': (nonce) => hmac(provider.claims({ nonce }), SECRET, { alg: 'HS384' }),
  'HS512 by the secret': (nonce) => hmac(provider.claims({ nonce }), SECRET, { alg: 'HS512' }),
  'another spelling': (nonce) => hmac(provider.claims({ nonce }), SECRET, { alg: 'hs256' }),
  none: (nonce) => `${base64url({ alg: 'none' })}.${base64url(provider.claims({ nonce }))}.`,
  'no signature': (nonce) => hmac(provider.claims({ nonce })).replace(/[^.]+$/, ''),
  'RS256 in the header, and an HMAC': (nonce) => hmac(provider.claims({ nonce }), SECRET, { alg: 'RS256' }),
  'a key of the token': (nonce) => {
    const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
    const header = { alg: 'ES256', jwk: publicKey.export({ format: 'jwk' }) }
    return provider.sign(provider.claims({ nonce }), header)
  },
  'the token secret of the tenant': (nonce) => hmac(provider.claims({ nonce }), env.ACME_SECRET),
}

t.test('refused with the setting', async (t) => {
  await provider.takes(world, { acme: HS256 })
  const before = sessions(world).length
  for (const [name, make] of Object.entries(refused))
    t.same(await codes(make), ['token_invalid', 'token_invalid'], name)
  t.equal(sessions(world).length, before)
})

t.test('without the setting HS256 is refused, whatever the provider advertises', async (t) => {
  provider.metadata = { id_token_signing_alg_values_supported: ['HS256'] }
  await provider.takes(world, { acme: { clientSecret: SECRET } })
  t.same(await codes((nonce) => hmac(provider.claims({ nonce }))), ['token_invalid', 'token_invalid'])
  provider.metadata = {}
})

t.test('a token of the gateway is no ID token, and an ID token no token of the gateway', async (t) => {
  await provider.takes(world, { acme: HS256 })
  const { json } = await provider.signIn(world, (nonce) => hmac(provider.claims({ nonce })))
  const own = String(json.access_token)
  t.same(await codes(() => own), ['token_invalid', 'token_invalid'])
  const idToken = hmac(provider.claims({ tenant_id: 'acme', hash_perm: ['s1:Viewer'] }))
  t.equal((await world.visitor().ask('/v1/me', { token: idToken })).status, 401)
})

t.test('logout tokens are signed in the same way', async (t) => {
  await provider.takes(world, { acme: HS256 })
  const { json } = await provider.signIn(world, (nonce) => hmac(provider.claims({ nonce, sid: 'a-session' })))
  const token = String(json.access_token)
  t.equal((await world.visitor().ask('/v1/me', { token })).status, 200)
  const claims = (jti: string) => ({
    ...{ iss: provider.issuer, aud: CLIENT, sid: 'a-session', jti },
    ...{ iat: Math.floor(Date.now() / 1000), exp: Math.floor(Date.now() / 1000) + 60 },
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  })
  const end = (text: string) =>
    world.visitor().post(`${world.origin}/auth/oidc/backchannel-logout/acme`, { logout_token: text })
  t.equal((await end(await provider.sign(claims('1')))).status, 400, 'by a key of the provider')
  t.equal((await end(hmac(claims('2'), `${SECRET}.`))).status, 400)
  t.equal((await world.visitor().ask('/v1/me', { token })).status, 200)
  t.equal((await end(hmac(claims('3')))).status, 200)
  t.equal((await world.visitor().ask('/v1/me', { token })).status, 401)
})
