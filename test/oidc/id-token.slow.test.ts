/**
 * Invalid ID tokens from a hostile provider: each at sign-in, and each at `validate`, where the gateway's check is
 * the first.
 */

import { createHmac, createPrivateKey, generateKeyPairSync } from 'node:crypto'
import { exportSPKI, generateKeyPair, importJWK } from 'jose'
import t from 'tap'
import { ACCESS_TOKEN, atHash, CLIENT, type Claims, HostileProvider } from './hostile-provider.ts'
import { freshWorld, seat, sessions, userOf } from './world.ts'

const world = await freshWorld()
const provider = await HostileProvider.start(t)
await provider.takes(world)
await seat(world, 'Viewer', ['s1'])

type Make = (nonce: string) => string | Promise<string>

const now = () => Math.floor(Date.now() / 1000)
const base64url = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
/** @param more a function where it depends on the time: it is called when the token is made */
const withClaims =
  (more: Claims | (() => Claims)): Make =>
  (nonce) =>
    provider.sign(provider.claims({ nonce, ...(typeof more === 'function' ? more() : more) }))

/** The results of a sign-in and of a validation: `200`, or the error code. */
async function verdicts(make: Make): Promise<{ signIn: string; validate: string }> {
  const page = await provider.signIn(world, make)
  const token = await make('a-nonce')
  const answer = await world
    .visitor()
    .postJson(`${world.origin}/auth/oidc/validate`, { tenant: 'acme', id_token: token })
  const said = ({ status, json }: typeof page) => (status === 200 ? '200' : String(json.code))
  return { signIn: said(page), validate: said(answer) }
}

function attack(name: string, make: Make, code = 'token_invalid'): void {
  t.test(name, async (t) => {
    const opened = sessions(world).length
    const said = await verdicts(make)
    t.equal(said.signIn, code, 'at sign-in')
    t.equal(said.validate, code, 'at validate')
    t.equal(sessions(world).length, opened, 'no session was opened')
    t.equal(await userOf(world, 'mallory'), undefined)
  })
}

t.test('a valid ID token', async (t) => {
  t.same(await verdicts(withClaims({})), { signIn: '200', validate: '200' })
  const token = await provider.sign(provider.claims({ memberOf: ['Viewer', 'Nobody'] }))
  const answer = await world
    .visitor()
    .postJson(`${world.origin}/auth/oidc/validate`, { tenant: 'acme', id_token: token })
  t.match(answer.json, { valid: true, seats: ['Viewer'], hash_perm: ['s1:Viewer'], claims: { sub: 'alice' } })
  t.equal(world.events('seats_unknown').length, 1, 'the validation lists the Seats that do not exist')
})

t.test('valid ID tokens of other shapes', async (t) => {
  const good: Record<string, Make> = {
    'aud as an array': withClaims({ aud: [CLIENT] }),
    'aud with others, azp us': withClaims({ aud: ['other', CLIENT], azp: CLIENT }),
    'exp just past': withClaims(() => ({ exp: now() - 30 })),
    'iat just ahead': withClaims(() => ({ iat: now() + 30 })),
    'nbf past': withClaims({ nbf: now() - 5 }),
    at_hash: withClaims({ at_hash: atHash(ACCESS_TOKEN) }),
    'no kid, with one key': async (nonce) => provider.sign(provider.claims({ nonce }), { kid: undefined }),
    'typ JWT': async (nonce) => provider.sign(provider.claims({ nonce }), { typ: 'JWT' }),
  }
  for (const [name, make] of Object.entries(good))
    t.same(await verdicts(make), { signIn: '200', validate: '200' }, name)
})

attack('another issuer', withClaims({ iss: 'https://evil.example' }))
attack("the issuer's address with a slash more", (nonce) =>
  provider.sign(provider.claims({ nonce, iss: `${provider.issuer}/` })),
)
attack('no issuer', withClaims({ iss: undefined }))
attack('an issuer that is no text', (nonce) =>
  provider.sign(provider.claims({ nonce, iss: [provider.issuer] })),
)
attack('another audience', withClaims({ aud: 'other' }))
attack('no audience', withClaims({ aud: undefined }))
attack('an empty audience', withClaims({ aud: [] }))
attack('an audience that is no text', withClaims({ aud: [CLIENT, 7], azp: CLIENT }))
attack('an audience that only begins like ours', withClaims({ aud: `${CLIENT}2` }))
attack('others in the audience, and no azp', withClaims({ aud: [CLIENT, 'other'] }))
attack('another azp', withClaims({ azp: 'other' }))
attack('another azp with an array', withClaims({ aud: [CLIENT, 'other'], azp: 'other' }))
attack('expired', withClaims({ exp: now() - 61 }), 'token_expired')
attack('no exp', withClaims({ exp: undefined }))
attack(
  'exp as a text',
  withClaims(() => ({ exp: String(now() + 600) })),
)
attack('no iat', withClaims({ iat: undefined }))
attack(
  'issued in the future',
  withClaims(() => ({ iat: now() + 120 })),
  'token_not_yet_valid',
)
attack(
  'not valid yet',
  withClaims(() => ({ nbf: now() + 120 })),
  'token_not_yet_valid',
)
attack('no sub', withClaims({ sub: undefined }))
attack('an empty sub', withClaims({ sub: '' }))
attack('a sub that is no text', withClaims({ sub: 7 }))
attack('a sub with a line end', withClaims({ sub: 'alice\r\nx: y' }))
attack('a sub without end', withClaims({ sub: 'a'.repeat(256) }))
attack('of a logout', withClaims({ events: { 'http://schemas.openid.net/event/backchannel-logout': {} } }))
attack('that says it is no ID token', withClaims({ typ: 'Bearer' }))

attack('an endless exp', async (nonce) => {
  const { exp: _, ...rest } = provider.claims({ nonce })
  return signBytes(`${JSON.stringify(rest).slice(0, -1)},"exp":1e400}`)
})
attack('a claim that is there twice', async (nonce) => {
  const json = JSON.stringify(provider.claims({ nonce }))
  return signBytes(`${json.slice(0, -1)},"sub":"mallory"}`)
})
attack('tampered: another payload under the same signature', async (nonce) => {
  const [header, , signature] = (await provider.sign(provider.claims({ nonce }))).split('.')
  return `${header}.${base64url(provider.claims({ nonce, sub: 'mallory' }))}.${signature}`
})
attack('tampered: one bit of the signature', async (nonce) => {
  const token = await provider.sign(provider.claims({ nonce }))
  const bytes = Buffer.from(token.split('.')[2] ?? '', 'base64url')
  bytes[10] = (bytes[10] ?? 0) ^ 1
  return `${token.split('.').slice(0, 2).join('.')}.${bytes.toString('base64url')}`
})
attack('padding', async (nonce) => `${await provider.sign(provider.claims({ nonce }))}=`)
attack('white space in the signature', async (nonce) => {
  const token = await provider.sign(provider.claims({ nonce }))
  return `${token.slice(0, -5)} ${token.slice(-5)}`
})
attack('alg none', (nonce) => {
  return `${base64url({ alg: 'none' })}.${base64url(provider.claims({ nonce }))}.`
})
attack('alg none, with a signature', async (nonce) => {
  const [, payload, signature] = (await provider.sign(provider.claims({ nonce }))).split('.')
  return `${base64url({ alg: 'none', kid: 'first' })}.${payload}.${signature}`
})
attack('alg none in capitals', (nonce) => {
  return `${base64url({ alg: 'NONE' })}.${base64url(provider.claims({ nonce }))}.`
})
for (const form of ['PEM', 'JWK'] as const) {
  attack(`HS256 with the public key as the secret (${form})`, async (nonce) => {
    const [jwk = {}] = provider.keys
    const pem = await exportSPKI((await importJWK({ ...jwk }, 'ES256')) as never)
    const input = `${base64url({ alg: 'HS256', kid: 'first' })}.${base64url(provider.claims({ nonce }))}`
    const secret = form === 'PEM' ? pem : JSON.stringify(jwk)
    return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
  })
}
attack('HS256 with a symmetric key from the key set', async (nonce) => {
  const secret = Buffer.alloc(32, 7)
  if (provider.keys.length === 1)
    provider.keys.push({ kty: 'oct', k: secret.toString('base64url'), kid: 'oct', alg: 'HS256' })
  const input = `${base64url({ alg: 'HS256', kid: 'oct' })}.${base64url(provider.claims({ nonce }))}`
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`
})
attack('a key that is not published, under the name of one that is', async (nonce) => {
  const { privateKey } = await generateKeyPair('ES256')
  return provider.sign(provider.claims({ nonce }), { kid: 'first' }, privateKey)
})
attack('an unknown kid', async (nonce) => {
  const { privateKey } = await generateKeyPair('ES256')
  return provider.sign(provider.claims({ nonce }), { kid: 'second' }, privateKey)
})
attack('a key that the token brings itself', async (nonce) => {
  const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const jwk = pair.publicKey.export({ format: 'jwk' })
  const header = { kid: 'first', jwk, jku: `${provider.issuer}/evil-jwks` }
  return provider.sign(
    provider.claims({ nonce }),
    header,
    createPrivateKey(pair.privateKey.export({ format: 'pem', type: 'pkcs8' })) as never,
  )
})
attack('an algorithm that the provider does not advertise', async (nonce) => {
  const { privateKey } = await generateKeyPair('PS256')
  return provider.sign(provider.claims({ nonce }), { alg: 'PS256' }, privateKey)
})
attack('a critical header parameter', async (nonce) => {
  const input = `${base64url({ alg: 'ES256', kid: 'first', crit: ['exp'], exp: 1 })}.${base64url(provider.claims({ nonce }))}`
  return signInput(input)
})
for (const typ of ['logout+jwt', 'at+jwt', 'secevent+jwt', 'application/LOGOUT+JWT', 'dpop+jwt']) {
  attack(`typ ${typ}`, (nonce) => provider.sign(provider.claims({ nonce }), { typ }))
}
attack('no token at all', () => 'nonsense')

t.test('a valid ID token is still accepted after the attacks', async (t) => {
  t.same(await verdicts(withClaims({})), { signIn: '200', validate: '200' })
})

t.test('a missing nonce, and the nonce of another sign-in', async (t) => {
  for (const nonce of [undefined, 'A'.repeat(43), 7, '']) {
    const page = await provider.signIn(world, { nonce })
    t.equal(page.status, 401, String(nonce))
    t.equal(page.json.code, 'token_invalid')
  }
})

t.test('the at_hash of another access token', async (t) => {
  for (const at_hash of [atHash('another'), '', 7, atHash(ACCESS_TOKEN).slice(0, -1)]) {
    const page = await provider.signIn(world, { at_hash })
    t.equal(page.json.code, 'token_invalid', String(at_hash))
  }
})

t.test('no kid, with several matching keys', async (t) => {
  await provider.newKey('another')
  await provider.takes(world)
  const said = await verdicts((nonce) => provider.sign(provider.claims({ nonce }), { kid: undefined }))
  t.same(said, { signIn: 'token_invalid', validate: 'token_invalid' })
})

t.test('no address named by a token was requested', async (t) => {
  t.equal(provider.count('/evil-jwks'), 0)
})

/** Signs a payload whose serialization is the caller's. */
function signBytes(payload: string): Promise<string> {
  return signInput(`${base64url({ alg: 'ES256', kid: provider.keys[0]?.kid })}.${base64url(payload)}`)
}

async function signInput(input: string): Promise<string> {
  if (provider.key === null) throw new Error('no key')
  const algorithm = { name: 'ECDSA', hash: 'SHA-256' }
  const signature = await crypto.subtle.sign(algorithm, provider.key, Buffer.from(input))
  return `${input}.${Buffer.from(signature).toString('base64url')}`
}
