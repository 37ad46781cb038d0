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

const FAULTS: readonly (readonly [string, string])[] = [
  ['{}', '3:1'],
  ['{ keys: [] }', '3:19'],
  ['{ keys: a.pem }', '3:19'],
  ['{ keys: [gone.pem] }', '3:20'],
  ['{ keys: [a.pem, .] }', '3:27'],
  ['{ keys: [empty.pem] }', '3:20'],
  ['{ keys: [public.pem] }', '3:20'],
  ['{ keys: [cut.pem] }', '3:20'],
  ['{ keys: [broken.pem] }', '3:20'],
  ['{ keys: [locked.pem] }', '3:20'],
  ['{ keys: [two.pem] }', '3:20'],
  ['{ keys: [a.pem, b.pem, same.pem] }', '3:34'],
  ['{ keys: [p384.pem] }', '3:20'],
  ['{ keys: [rsa.pem] }', '3:20'],
  ['{ keys: [ed.pem] }', '3:20'],
  ['{ algorithm: EdDSA, keys: [a.pem] }', '3:38'],
  ['{ algorithm: EdDSA, keys: [ed448.pem] }', '3:38'],
  ['{ algorithm: RS256, keys: [a.pem] }', '3:24'],
  ['{ algorithm: none, keys: [a.pem] }', '3:24'],
  ['{ keys: [a.pem], lifetime: 4s }', '3:38'],
  ['{ keys: [a.pem], lifetime: 301s }', '3:38'],
  ['{ keys: [a.pem], issuer: "" }', '3:36'],
  ['{ keys: [a.pem], issuer: "a b" }', '3:36'],
  ['{ keys: [a.pem], issuer: "1:2" }', '3:36'],
  ['{ keys: [a.pem], kid: x }', '3:28'],
]

const secrets = Object.values(FILES).flatMap((text) =>
  text.split('\n').filter((line) => line.length > 30 && !line.includes('-----')),
)

t.test('faults, each at its place, none with a part of a key', async (t) => {
  for (const [identity, fault] of FAULTS) {
    const found = await folder(t, identity).faultsAt(t, fault)
    t.notOk(
      secrets.some((line) => found.includes(line)),
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
  for (const name of refused) await folder(t, `{ header: "${name}", keys: [a.pem] }`).faultsAt(t, '3:21')
  for (const name of ['x-seatgate-jwt', 'X-Seatgate-JWT', 'jwt-assertion', 'x-acme-identity'])
    t.equal(
      (await folder(t, `{ header: ${name}, keys: [a.pem] }`).load()).config?.identity?.header,
      name.toLowerCase(),
    )
})
