/**
 * Encrypted ID tokens and logout tokens: of a certified provider, and hostile ones. A signature inside is required, and each
 * part of the outer token is checked.
 */

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateRawSync } from 'node:zlib'
import { CompactEncrypt, decodeProtectedHeader, type JWK } from 'jose'
import t, { type Test } from 'tap'
import { publicKeys } from '../../src/config/provider-keys.ts'
import { serverFolder } from '../support/servers/folder.ts'
import { CLIENT, type Claims, HostileProvider } from './hostile-provider.ts'
import { TestProvider } from './provider.ts'
import { freshWorld, seat, sessions } from './world.ts'

const folder = serverFolder(t, 'decryption-keys')

function newKey(name: string, privateKey: KeyObject) {
  const path = join(folder, `${name}.pem`)
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  writeFileSync(path, pem, { mode: 0o600 })
  const [jwk] = publicKeys({ clientKey: null, decryptionKeys: [pem] })
  return { path, pem, jwk: jwk as JWK & { readonly kid: string }, publicKey: createPublicKey(privateKey) }
}

const rsaKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const ecKey = (namedCurve = 'P-256') => generateKeyPairSync('ec', { namedCurve }).privateKey
const [rsa, otherRsa] = [newKey('rsa', rsaKey()), newKey('rsa-2', rsaKey())]
const [ec, p384] = [newKey('ec', ecKey()), newKey('p384', ecKey('P-384'))]
const ALL = [rsa, otherRsa, ec, p384].map(({ path }) => path)

const world = await freshWorld()
for (const { pem } of [rsa, otherRsa, ec, p384]) world.secrets.add(pem.split('\n')[2] ?? '')
const provider = await HostileProvider.start(t)
await seat(world, 'Viewer', ['s1'])

interface Encryption {
  readonly header?: Claims
  readonly key?: KeyObject
}

function encrypt(
  text: string | Uint8Array,
  { header = {}, key = rsa.publicKey }: Encryption = {},
): Promise<string> {
  const plain = typeof text === 'string' ? Buffer.from(text) : text
  const whole = { alg: 'RSA-OAEP-256', enc: 'A256GCM', cty: 'JWT', ...header }
  return new CompactEncrypt(plain).setProtectedHeader(whole).encrypt(key)
}

type Make = (nonce: string) => string | Promise<string>

const signed: Make = (nonce) => provider.sign(provider.claims({ nonce }))
const encrypted =
  (how?: Encryption, inner = signed): Make =>
  async (nonce) =>
    encrypt(await inner(nonce), how)

/** The codes of a sign-in and of a validation. */
async function codes(make: Make): Promise<string[]> {
  const page = await provider.signIn(world, make)
  const answer = await world
    .visitor()
    .postJson(`${world.origin}/auth/oidc/validate`, { tenant: 'acme', id_token: await make('a-nonce') })
  return [page, answer].map(({ status, json }) => (status === 200 ? '200' : String(json.code)))
}

const BOTH = ['200', '200']
const NEITHER = ['token_invalid', 'token_invalid']

async function certified(t: Test, { jwk, path }: typeof rsa, client: Record<string, unknown>) {
  const redirectUri = `${world.origin}/auth/oidc/callback/acme`
  const logout = { uri: `${world.origin}/auth/oidc/backchannel-logout/acme`, session: true }
  const at = await TestProvider.start(t, {
    redirectUri,
    postLogoutRedirect: `${world.origin}/bye`,
    backchannelLogout: logout,
    features: { encryption: { enabled: true } },
    client: { jwks: { keys: [jwk] }, ...client },
  })
  at.user('alice', { memberOf: ['Viewer'] })
  const config = { ...at.config({ redirectUri }), decryptionKeys: [path] }
  await world.configure({ acme: config })
  return { at, config }
}

for (const [name, key, alg, enc] of [
  ['RSA', rsa, 'RSA-OAEP-256', 'A128GCM'],
  ['RSA', rsa, 'RSA-OAEP-256', 'A256GCM'],
  ['P-256', ec, 'ECDH-ES', 'A128GCM'],
  ['P-256', ec, 'ECDH-ES', 'A256GCM'],
  ['P-384', p384, 'ECDH-ES', 'A256GCM'],
] as const)
  t.test(`a certified provider, ${name}, ${alg}, ${enc}`, async (t) => {
    const client = { id_token_encrypted_response_alg: alg, id_token_encrypted_response_enc: enc }
    const { at, config } = await certified(t, key, client)
    const visitor = world.visitor()
    const page = await visitor.signIn()
    t.match([page.status, page.json.user], [200, { sub: 'alice', seats: ['Viewer'] }])
    const again = await visitor.refresh(page.json.refresh_token)
    t.equal(again.status, 200)
    const ended = await visitor.postJson(`${world.origin}/auth/oidc/logout`, {
      refresh_token: again.json.refresh_token,
    })
    // The provider can read its own signed token alone.
    const hint = new URL(ended.json.end_session_url).searchParams.get('id_token_hint') ?? ''
    world.secrets.add(hint)
    t.equal(decodeProtectedHeader(hint).alg, 'RS256')
    t.equal((await visitor.walk(ended.json.end_session_url)).status, 200)
    await world.configure({ acme: { ...config, decryptionKeys: [] } })
    t.match((await world.visitor().signIn()).json, { code: 'token_invalid', detail: /no decryption_keys/ })
    t.ok(at.count('/token') > 0)
  })

t.test('a logout token of a certified provider is encrypted too', async (t) => {
  const { at } = await certified(t, rsa, {
    id_token_encrypted_response_alg: 'RSA-OAEP-256',
    id_token_encrypted_response_enc: 'A128GCM',
  })
  const sent: string[] = []
  at.sends = (body) => void sent.push(new URLSearchParams(body).get('logout_token') ?? '')
  const visitor = world.visitor()
  const token = String((await visitor.signIn()).json.access_token)
  t.equal((await world.visitor().ask('/v1/me', { token })).status, 200)
  await visitor.walk(`${at.issuer}/session/end`)
  t.equal(sent[0]?.split('.').length, 5)
  t.equal((await world.visitor().ask('/v1/me', { token })).status, 401)
})

t.test('accepted', async (t) => {
  await provider.takes(world, { acme: { decryptionKeys: ALL } })
  const good: Record<string, Make> = {
    'only signed': signed,
    'RSA without kid': encrypted(),
    'the kid of the key': encrypted({ header: { kid: rsa.jwk.kid } }),
    'the second RSA key, without kid': encrypted({ key: otherRsa.publicKey }),
    "a kid of the provider's own": encrypted({ key: otherRsa.publicKey, header: { kid: 'mine' } }),
    'a kid that is no text': encrypted({ header: { kid: 7 } }),
    'ECDH-ES': encrypted({ key: ec.publicKey, header: { alg: 'ECDH-ES', enc: 'A128GCM' } }),
    'ECDH-ES with an unknown kid': encrypted({
      key: p384.publicKey,
      header: { alg: 'ECDH-ES', kid: 'mine' },
    }),
    'without cty': encrypted({ header: { cty: undefined } }),
  }
  for (const [name, make] of Object.entries(good)) t.same(await codes(make), BOTH, name)
})

const parts = async (make: Make, nonce: string) => (await make(nonce)).split('.')
/** The token with one part changed. */
const changed =
  (at: number, change: (part: string) => string, make = encrypted()): Make =>
  async (nonce) =>
    (await parts(make, nonce)).map((part, index) => (index === at ? change(part) : part)).join('.')
const base64url = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
const withHeader =
  (more: Claims, make = encrypted()): Make =>
  (nonce) =>
    changed(
      0,
      (part) => base64url({ ...JSON.parse(Buffer.from(part, 'base64url').toString()), ...more }),
      make,
    )(nonce)
const flipped = (part: string) => {
  const bytes = Buffer.from(part, 'base64url')
  bytes[3] = (bytes[3] ?? 0) ^ 1
  return bytes.toString('base64url')
}

const stranger = createPublicKey(rsaKey())
const attacks: Record<string, Make> = {
  'for a key that is not configured': encrypted({ key: stranger }),
  'for a key that is not configured, under the kid of one that is': encrypted({
    key: stranger,
    header: { kid: rsa.jwk.kid },
  }),
  'for another configured key than the one it names': encrypted({
    key: otherRsa.publicKey,
    header: { kid: rsa.jwk.kid },
  }),
  'for another key on the curve': encrypted({
    key: createPublicKey(ecKey()),
    header: { alg: 'ECDH-ES' },
  }),
  'claims without a signature': async (nonce) => encrypt(JSON.stringify(provider.claims({ nonce }))),
  'alg none inside': async (nonce) =>
    encrypt(`${base64url({ alg: 'none' })}.${base64url(provider.claims({ nonce }))}.`),
  'nothing inside': async () => encrypt(''),
  'bytes inside that are no text': async () => encrypt(Buffer.alloc(64, 0xff)),
  'an encrypted token inside': encrypted({}, encrypted()),
  'white space around the signed token': async (nonce) => encrypt(` ${await signed(nonce)}`),
  'another signature inside': async (nonce) => encrypt(`${(await signed(nonce)).slice(0, -6)}AAAAAA`),
  'claims of another client inside': encrypted({}, (nonce) =>
    provider.sign(provider.claims({ nonce, aud: 'other' })),
  ),
  'RSA-OAEP': encrypted({ header: { alg: 'RSA-OAEP' } }),
  'RSA-OAEP-512': encrypted({ header: { alg: 'RSA-OAEP-512' } }),
  'ECDH-ES+A256KW': encrypted({ key: ec.publicKey, header: { alg: 'ECDH-ES+A256KW' } }),
  A192GCM: encrypted({ header: { enc: 'A192GCM' } }),
  'A128CBC-HS256': encrypted({ header: { enc: 'A128CBC-HS256' } }),
  'RSA1_5 in the header': withHeader({ alg: 'RSA1_5' }),
  'dir in the header': withHeader({ alg: 'dir' }),
  'PBES2 in the header, with ten million iterations': withHeader({
    ...{ alg: 'PBES2-HS256+A128KW', p2c: 10_000_000, p2s: 'AAAAAAAAAAA' },
  }),
  'a member of the prototype as the algorithm': withHeader({ alg: 'constructor' }),
  'the key of another type': withHeader({ alg: 'ECDH-ES' }),
  'a point that is not on the curve': withHeader(
    { epk: { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' } },
    encrypted({ key: ec.publicKey, header: { alg: 'ECDH-ES' } }),
  ),
  'a point of another curve': withHeader(
    { epk: createPublicKey(ecKey('P-384')).export({ format: 'jwk' }) },
    encrypted({ key: ec.publicKey, header: { alg: 'ECDH-ES' } }),
  ),
  'no point': withHeader({ epk: undefined }, encrypted({ key: ec.publicKey, header: { alg: 'ECDH-ES' } })),
  'a critical parameter': withHeader({ crit: ['exp'], exp: 1 }),
  'a header with a member twice': changed(0, (part) => {
    const json = Buffer.from(part, 'base64url').toString()
    return Buffer.from(`${json.slice(0, -1)},"enc":"A256GCM"}`).toString('base64url')
  }),
  'an altered encrypted key': changed(1, flipped),
  'a cut encrypted key': changed(1, (part) => part.slice(0, 40)),
  'no encrypted key': changed(1, () => ''),
  'an altered initialization vector': changed(2, flipped),
  'an altered content': changed(3, flipped),
  'an altered tag': changed(4, flipped),
  'a cut tag': changed(4, (part) => Buffer.from(part, 'base64url').subarray(0, 4).toString('base64url')),
  'padding in a part': changed(4, (part) => `${part}=`),
  'a part more': async (nonce) => `${await encrypted()(nonce)}.AAAA`,
  'five empty parts': () => '....',
}

t.test('refused', async (t) => {
  await provider.takes(world, { acme: { decryptionKeys: ALL } })
  const before = sessions(world).length
  for (const [name, make] of Object.entries(attacks)) t.same(await codes(make), NEITHER, name)
  t.equal(sessions(world).length, before, 'no session was opened')
  t.same(await codes(encrypted()), BOTH, 'a valid one is still accepted')
})

t.test('compressed and large tokens are refused before they are decrypted', async (t) => {
  await provider.takes(world, { acme: { decryptionKeys: ALL } })
  const zipped: Make = async (nonce) => {
    const bomb = await provider.sign(provider.claims({ nonce, x: 'x'.repeat(40 * 1024) }))
    // jose compresses by itself with `zip`; the header is changed here, so that others would.
    const inner = await encrypt(deflateRawSync(bomb), {})
    return [
      base64url({ alg: 'RSA-OAEP-256', enc: 'A256GCM', zip: 'DEF' }),
      ...inner.split('.').slice(1),
    ].join('.')
  }
  const compressed = encrypted({ header: { zip: 'DEF' } })
  for (const make of [zipped, compressed]) t.same(await codes(make), NEITHER)
  t.match(world.events('sign_in_failed').at(-1)?.['reason'], /without compression/)
  const large = (size: number): Make =>
    encrypted({}, (nonce) => provider.sign(provider.claims({ nonce, x: 'x'.repeat(size) })))
  t.same(await codes(large(45 * 1024)), BOTH, 'hundreds of groups')
  const page = await provider.signIn(world, large(60 * 1024))
  t.match(page.json, { code: 'token_invalid' })
})

t.test('with HS256 inside', async (t) => {
  const secret = 'the secret of a client, which has 32 bytes and more'
  world.secrets.add(secret)
  const more = { clientSecret: secret, idTokenSigningAlg: 'HS256', decryptionKeys: ALL } as const
  await provider.takes(world, { acme: more })
  const { SignJWT } = await import('jose')
  const hmac: Make = (nonce) =>
    new SignJWT(provider.claims({ nonce })).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret))
  t.same(await codes(encrypted({}, hmac)), BOTH)
  t.same(await codes(encrypted()), NEITHER, 'by a key of the provider')
})

t.test('an encrypted token is no bearer token', async (t) => {
  await provider.takes(world, { acme: { decryptionKeys: ALL, acceptProviderTokens: true } })
  const plain = await signed('')
  t.equal((await world.visitor().ask('/v1/me', { token: plain })).status, 200)
  t.equal((await world.visitor().ask('/v1/me', { token: await encrypt(plain) })).status, 401)
})

t.test('encrypted logout tokens count at an address that has the key', async (t) => {
  await provider.takes(world, { acme: { decryptionKeys: [rsa.path] } })
  let jti = 0
  const claims = () => ({
    ...{ iss: provider.issuer, aud: CLIENT, sid: 's', jti: `${jti++}`, memberOf: undefined },
    ...{ iat: Math.floor(Date.now() / 1000), exp: Math.floor(Date.now() / 1000) + 60 },
    events: { 'http://schemas.openid.net/event/backchannel-logout': {} },
  })
  const post = async (path: string, text: string) =>
    world.visitor().post(`${world.origin}/auth/oidc/backchannel-logout${path}`, { logout_token: text })
  const token = async () => provider.sign(claims())
  for (const path of ['', '/acme']) t.equal((await post(path, await encrypt(await token()))).status, 200)
  for (const [path, text] of [
    ['/globex', await encrypt(await token())],
    ['/nobody', await encrypt(await token())],
    ['/acme', await encrypt(await token(), { key: stranger })],
    ['', await encrypt(JSON.stringify(claims()))],
  ] as const) {
    const page = await post(path, text)
    t.equal(page.status, 400, path)
    t.equal(
      page.json.error_description,
      'The logout token is encrypted, and not for a key of this address.',
      path,
    )
  }
  const both = { decryptionKeys: [rsa.path] }
  await provider.takes(world, { acme: both, globex: both })
  t.equal((await post('', await encrypt(await token()))).status, 400, 'two tenants have keys')
  t.equal((await post('/acme', await encrypt(await token()))).status, 200)
})
