/** `identity`: its settings and defaults; each fault of its files names key, file and what to do, and shows no key. */

import { generateKeyPairSync } from 'node:crypto'
import t, { type Test } from 'tap'
import { pack, unpack } from '../../src/config/worker-copy.ts'
import { newKey } from '../identity/support.ts'
import { BASE, Folder } from './support.ts'

const [es256, other, edDsa] = [newKey(), newKey(), newKey('EdDSA')]
const pem = { publicKeyEncoding: { type: 'spki', format: 'pem' } } as const
const pkcs8 = { type: 'pkcs8', format: 'pem' } as const
const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384', ...pem, privateKeyEncoding: pkcs8 }).privateKey
const ed448 = generateKeyPairSync('ed448', { ...pem, privateKeyEncoding: pkcs8 }).privateKey
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048, ...pem, privateKeyEncoding: pkcs8 }).privateKey
const protection = { ...pkcs8, cipher: 'aes-256-cbc', passphrase: 'secret' }
const locked = generateKeyPairSync('ec', { namedCurve: 'P-256', ...pem, privateKeyEncoding: protection })
const FILES = {
  ...{
    'a.pem': es256,
    'b.pem': other,
    'ed.pem': edDsa,
    'p384.pem': p384,
    'ed448.pem': ed448,
    'rsa.pem': rsa,
  },
  ...{ 'public.pem': locked.publicKey, 'locked.pem': locked.privateKey, 'two.pem': es256 + other },
  ...{ 'same.pem': `# the same\n${es256}`, 'empty.pem': '', 'cut.pem': es256.slice(0, 100) },
  'broken.pem': es256.replace(/\n[\w+/]{4}/, '\nAAAA'),
}

function folder(t: Test, identity: string): Folder {
  return new Folder(t, { ...FILES, 'gateway.config.yaml': `${BASE}identity: ${identity}\n` })
}

t.test('defaults, and all of it', async (t) => {
  const { config } = await folder(t, '{ keys: [a.pem] }').load()
  const shared = { header: 'x-seatgate-jwt', algorithm: 'ES256', lifetime: 60_000, issuer: 'seatgate' }
  t.strictSame(config?.identity, { ...shared, keys: [es256] })
  const all =
    '{ header: X-Acme-Identity, algorithm: EdDSA, keys: [ed.pem], lifetime: 2m, issuer: "https://gw.example" }'
  t.strictSame((await folder(t, all).load()).config?.identity, {
    header: 'x-acme-identity',
    algorithm: 'EdDSA',
    keys: [edDsa],
    lifetime: 120_000,
    issuer: 'https://gw.example',
  })
  const without = await new Folder(t, { 'gateway.config.yaml': BASE }).load()
  t.equal(without.config?.identity, null)
})

t.test('workers get the keys, in order', async (t) => {
  const { config } = await folder(t, '{ keys: [b.pem, a.pem] }').load()
  t.strictSame(unpack(structuredClone(pack(config))).identity, config?.identity)
  t.strictSame(config?.identity?.keys, [other, es256])
})

t.test('the files are watched, also faulty ones', async (t) => {
  const at = folder(t, '{ keys: [a.pem, b.pem] }')
  const { config } = await at.load()
  for (const name of ['a.pem', 'b.pem']) t.match(config?.signature, at.file(name))
  at.write({ 'b.pem': 'nothing' })
  const faulty = await at.load()
  t.equal(faulty.config, null)
  for (const name of ['a.pem', 'b.pem']) t.ok(faulty.files.includes(at.file(name)))
})

const P256 = /: "[a-z0-9]+\.pem" is not a key for ES256: make one on the curve P-256$/
const FAULTS: readonly (readonly [string, RegExp])[] = [
  ['{}', /^3:1: identity must have the key "keys"$/],
  ['{ keys: [] }', /^3:19: keys must have at least one entry$/],
  ['{ keys: a.pem }', /^3:19: keys must be a list, not a string$/],
  ['{ keys: [gone.pem] }', /^3:20: keys\[0\]: "gone\.pem" cannot be read: ENOENT \(there is no such file/],
  ['{ keys: [a.pem, .] }', /^3:27: keys\[1\]: "\." is not a regular file of at most 1 MiB$/],
  ['{ keys: [empty.pem] }', /^3:20: keys\[0\]: "empty\.pem" contains no PEM private key$/],
  ['{ keys: [public.pem] }', /^3:20: keys\[0\]: "public\.pem" contains no PEM private key$/],
  ['{ keys: [cut.pem] }', /cannot be parsed: name a PEM private key \(PKCS#8\) without a passphrase$/],
  ['{ keys: [broken.pem] }', /cannot be parsed/],
  ['{ keys: [locked.pem] }', /cannot be parsed: .* without a passphrase$/],
  ['{ keys: [two.pem] }', /contains several private keys: put each into a file of its own$/],
  ['{ keys: [a.pem, b.pem, same.pem] }', /^3:34: keys\[2\]: .* is the same key as an earlier one/],
  ['{ keys: [p384.pem] }', P256],
  ['{ keys: [rsa.pem] }', P256],
  ['{ keys: [ed.pem] }', P256],
  ['{ algorithm: EdDSA, keys: [a.pem] }', /is not a key for EdDSA: make one of the type Ed25519$/],
  ['{ algorithm: EdDSA, keys: [ed448.pem] }', /is not a key for EdDSA/],
  ['{ algorithm: RS256, keys: [a.pem] }', /^3:24: algorithm must be one of ES256, EdDSA$/],
  ['{ algorithm: none, keys: [a.pem] }', /algorithm must be one of/],
  ['{ keys: [a.pem], lifetime: 4s }', /lifetime: "4s" is too short: the minimum is 5s$/],
  ['{ keys: [a.pem], lifetime: 301s }', /lifetime: "301s" is too long: the maximum is 5m$/],
  ['{ keys: [a.pem], issuer: "" }', /issuer: "" is not 1 to 256 visible ASCII characters$/],
  ['{ keys: [a.pem], issuer: "a b" }', /issuer: "a b" is not/],
  ['{ keys: [a.pem], issuer: "1:2" }', /issuer: "1:2" has a colon, and is not a URI$/],
  ['{ keys: [a.pem], kid: x }', /"kid" is not a known key/],
]

const secrets = Object.values(FILES).flatMap((text) =>
  text.split('\n').filter((line) => line.length > 30 && !line.includes('-----')),
)

t.test('faults, each at its place, none with a part of a key', async (t) => {
  for (const [identity, fault] of FAULTS) {
    const found = (await folder(t, identity).faults()).map((line) => line.replace('gateway.config.yaml:', ''))
    t.equal(found.length, 1, found.join('\n'))
    t.match(found[0], fault, identity)
    t.notOk(
      secrets.some((line) => found.join('\n').includes(line)),
      'no part of a key',
    )
  }
})

t.test('headers that the gateway reads, writes or drops itself', async (t) => {
  const refused = [
    ...['host', 'Host', 'x-api-key', 'Authorization', 'cookie', 'Space', 'x-request-id', 'forwarded'],
    ...['x-forwarded-for', 'X-Forwarded-Host', 'x-forwarded-proto', 'x-forwarded-anything', 'x-real-ip'],
    ...['x-seatgate', 'x-seatgate-user', 'X-Seatgate-Tenant', 'x-seatgate-other', 'x-original-url', 'proxy'],
    ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'proxy-authorization'],
    ...[
      'content-length',
      'content-type',
      'expect',
      'sec-websocket-key',
      'set-cookie',
      'x-http-method-override',
    ],
    ...['traceparent', 'tracestate', 'origin', 'accept', 'if-match', 'user-agent', 'x-envoy-original-path'],
    ...[':authority', ':path', '', 'a b', 'x_acme', 'x-é', 'x-'.padEnd(65, 'a'), '1-x', 'x-a\\r\\nb: c'],
  ]
  for (const name of refused) {
    const found = await folder(t, `{ header: "${name}", keys: [a.pem] }`).faults()
    t.match(
      found,
      [/^gateway\.config\.yaml:3:21: header: .* (?:is a header that has|is not the name of)/],
      name,
    )
    t.equal(found.length, 1)
  }
  for (const name of ['x-seatgate-jwt', 'X-Seatgate-JWT', 'jwt-assertion', 'x-acme-identity'])
    t.equal(
      (await folder(t, `{ header: ${name}, keys: [a.pem] }`).load()).config?.identity?.header,
      name.toLowerCase(),
    )
})
