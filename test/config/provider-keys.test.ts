/** `client_key`, `decryption_keys` and `id_token_signing_alg` of a provider, alone and together. No message shows a key. */

import { createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { calculateJwkThumbprint, exportJWK } from 'jose'
import t, { type Test } from 'tap'
import { publicKeys } from '../../src/config/provider-keys.ts'
import { pack, unpack } from '../../src/config/worker-copy.ts'
import { Folder, SECRET } from './support.ts'

const pkcs8 = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' }).toString()
const ec = (namedCurve: string) => generateKeyPairSync('ec', { namedCurve }).privateKey
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).privateKey
const [rsaKey, p256, p384, p521] = [rsa(2048), ec('P-256'), ec('P-384'), ec('P-521')] as const
const FILES = {
  ...{ 'rsa.pem': pkcs8(rsaKey), 'p256.pem': pkcs8(p256), 'p384.pem': pkcs8(p384), 'p521.pem': pkcs8(p521) },
  'pkcs1.pem': rsaKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
  'sec1.pem': p256.export({ type: 'sec1', format: 'pem' }).toString(),
  'short.pem': pkcs8(rsa(2040)),
  'k256.pem': pkcs8(ec('secp256k1')),
  'ed.pem': pkcs8(generateKeyPairSync('ed25519').privateKey),
  'pss.pem': pkcs8(generateKeyPairSync('rsa-pss', { modulusLength: 2048 }).privateKey),
  'public.pem': createPublicKey(p256).export({ type: 'spki', format: 'pem' }).toString(),
  'empty.pem': '',
}
const LONG = 'a client secret with more than 32 bytes'

/** @param settings lines of `oidc`, after the required ones: they begin in line 7 */
function folder(t: Test, ...settings: readonly string[]): Folder {
  const lines = [
    ...['tenants:', '  acme:', `    token: { secrets: ['${SECRET}'] }`, '    oidc:'],
    ...['issuer: https://login.example', 'client_id: seatgate'].map((each) => `      ${each}`),
    ...settings.map((each) => `      ${each}`),
    '      redirect_uri: https://gw.example/auth/oidc/callback',
    "upstreams: { main: { targets: ['http://127.0.0.1:9001'] } }",
  ]
  return new Folder(t, { ...FILES, 'gateway.config.yaml': `${lines.join('\n')}\n` })
}

async function oidcOf(t: Test, ...settings: readonly string[]) {
  const { config, faults } = await folder(t, ...settings).load()
  t.same(faults, [], settings.join(', '))
  return config?.tenants.get('acme')?.oidc
}

t.test('keys of every accepted kind', async (t) => {
  for (const name of ['rsa.pem', 'p256.pem', 'p384.pem', 'p521.pem', 'pkcs1.pem', 'sec1.pem'] as const) {
    const oidc = await oidcOf(t, `client_key: ${name}`)
    t.match(oidc, { clientKey: FILES[name], clientSecret: null, clientAuth: null })
  }
  const all = 'decryption_keys: [rsa.pem, p256.pem, p384.pem, p521.pem]'
  t.same((await oidcOf(t, all))?.decryptionKeys, [
    ...[FILES['rsa.pem'], FILES['p256.pem'], FILES['p384.pem'], FILES['p521.pem']],
  ])
})

t.test('workers get the keys, and their files are watched, also faulty ones', async (t) => {
  const at = folder(t, 'client_key: rsa.pem', 'decryption_keys: [p256.pem]')
  const { config } = await at.load()
  t.strictSame(unpack(structuredClone(pack(config))).tenants.get('acme'), config?.tenants.get('acme'))
  at.write({ 'p256.pem': 'nothing' })
  const faulty = await at.load()
  t.equal(faulty.config, null)
  for (const name of ['rsa.pem', 'p256.pem']) {
    t.match(config?.signature, at.file(name))
    t.ok(faulty.files.includes(at.file(name)))
  }
})

t.test('settings that go together', async (t) => {
  t.match(await oidcOf(t, 'client_key: rsa.pem', 'client_auth: private_key_jwt'), {
    clientAuth: 'private_key_jwt',
  })
  const hmac = await oidcOf(t, `client_secret: ${LONG}`, 'id_token_signing_alg: HS256')
  t.match(hmac, { idTokenSigningAlg: 'HS256', clientSecret: LONG })
  // The secret signs ID tokens, and the key authenticates.
  await oidcOf(t, 'client_key: rsa.pem', `client_secret: ${LONG}`, 'id_token_signing_alg: HS256')
})

const FAULTS: readonly (readonly [readonly string[], string])[] = [
  [['client_key: gone.pem'], '7:19'],
  [['client_key: empty.pem'], '7:19'],
  [['client_key: public.pem'], '7:19'],
  [['client_key: short.pem'], '7:19'],
  [['client_key: k256.pem'], '7:19'],
  [['client_key: ed.pem'], '7:19'],
  [['client_key: pss.pem'], '7:19'],
  [['client_key: [rsa.pem]'], '7:19'],
  [['decryption_keys: rsa.pem'], '7:24'],
  [['decryption_keys: [p256.pem, short.pem]'], '7:35'],
  [['decryption_keys: [p256.pem, sec1.pem]'], '7:35'],
  [['decryption_keys: [rsa.pem, p256.pem, p384.pem, p521.pem, rsa.pem]'], '7:24'],
  [['client_auth: private_key_jwt'], '7:20'],
  [['client_auth: client_secret_basic', 'client_key: rsa.pem'], '7:20'],
  [['client_auth: none', 'client_key: rsa.pem'], '8:19'],
  [['client_auth: client_secret_post', 'client_secret: s', 'client_key: rsa.pem'], '9:19'],
  [['client_key: rsa.pem', `client_secret: ${LONG}`], '8:22'],
  [['client_key: rsa.pem', 'decryption_keys: [p256.pem, pkcs1.pem]'], '7:19'],
  [['id_token_signing_alg: RS256'], '7:29'],
  [['id_token_signing_alg: HS256'], '7:29'],
  [[`client_secret: ${'x'.repeat(31)}`, 'id_token_signing_alg: HS256'], '7:22'],
  [[`client_secret: ${LONG}`, 'id_token_signing_alg: HS256', 'accept_provider_tokens: true'], '9:31'],
]

t.test('faults', async (t) => {
  const bodies = Object.values(FILES).flatMap((pem) => pem.split('\n').filter((line) => /^\w{20}/.test(line)))
  for (const [settings, places] of FAULTS) {
    const printed = await folder(t, ...settings).faultsAt(t, places)
    for (const body of bodies) t.notMatch(printed, body.slice(0, 20))
    t.notMatch(printed, LONG)
  }
})

t.test('a secret of ID tokens is a secret of nothing else', async (t) => {
  const tenant = (id: string, secret: string, issuer = 'https://login.example', client = 'seatgate') =>
    `  ${id}: { token: { secrets: ['${id} ${SECRET}'] }, oidc: { issuer: '${issuer}', client_id: ${client}, client_secret: '${secret}', id_token_signing_alg: HS256, redirect_uri: 'https://gw.example/auth/oidc/callback', tenant_claim: { name: a, value: ${id} } } }`
  const file = (...tenants: readonly string[]) =>
    new Folder(t, {
      'gateway.config.yaml': `tenants:\n${tenants.join('\n')}\nupstreams: { main: { targets: ['http://127.0.0.1:9001'] } }\n`,
    })
  await file(tenant('acme', LONG), tenant('globex', LONG)).faultsAt(t, '')
  await file(tenant('acme', LONG), tenant('globex', `${LONG}.`, 'https://b.example')).faultsAt(t, '')
  await file(tenant('acme', LONG), tenant('globex', LONG, 'https://b.example')).faultsAt(t, '3:155')
  await file(tenant('acme', LONG), tenant('globex', LONG, undefined, 'other')).faultsAt(t, '3:156')
  await file(tenant('acme', `acme ${SECRET}`)).faultsAt(t, '2:155')
  await file(tenant('acme', `globex ${SECRET}`), tenant('globex', LONG)).faultsAt(t, '2:155')
})

t.test('the public keys have the names of RFC 7638, and nothing of the private ones', async (t) => {
  const oidc = await oidcOf(t, 'client_key: p384.pem', 'decryption_keys: [rsa.pem, p256.pem]')
  const keys = oidc == null ? [] : publicKeys(oidc)
  const expected = [
    [p384, { use: 'sig' }],
    [rsaKey, { use: 'enc', alg: 'RSA-OAEP-256' }],
    [p256, { use: 'enc', alg: 'ECDH-ES' }],
  ] as const
  t.equal(keys.length, 3)
  for (const [at, [key, more]] of expected.entries()) {
    const jwk = await exportJWK(createPublicKey(key))
    t.strictSame(JSON.parse(JSON.stringify(keys[at])), {
      ...jwk,
      kid: await calculateJwkThumbprint(jwk),
      ...more,
    })
  }
})
