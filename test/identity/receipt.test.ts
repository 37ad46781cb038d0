/** Receipts of revocations: what they say, that jose accepts them, and every other text that is refused. */

import { createHmac, createPrivateKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { compactVerify, createLocalJWKSet, decodeProtectedHeader } from 'jose'
import t from 'tap'
import {
  isReceiptFault,
  MAX_RECEIPT,
  publicKeysOf,
  readReceipt,
  receiptSigner,
  verifyReceipt,
} from '../../src/identity/receipt.ts'
import { SignedIdentity } from '../../src/identity/signed-identity.ts'
import { identified, identityConfig, newKey } from './support.ts'

const CLAIMS = { tenant: 'acme', id: '01KAJ0Z1V5Q8T2C0W7M3E9R4XD', state: 'closed', audit: { seq: 1 } }
const TYPE = 'seatgate-receipt+jwt'

const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A text that the key has really signed, whatever its header says. */
function signedText(key: KeyObject, header: unknown, payload: unknown): string {
  const text = `${typeof header === 'string' ? header : part(header)}.${typeof payload === 'string' ? payload : part(payload)}`
  const hash = key.asymmetricKeyType === 'ec' ? 'sha256' : null
  const signature = sign(hash, Buffer.from(text), { key, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

async function faultOf(text: string, keySet: string): Promise<string | null> {
  const result = await verifyReceipt(text, keySet)
  return isReceiptFault(result) ? result.fault : null
}

for (const algorithm of ['ES256', 'EdDSA'] as const)
  t.test(`${algorithm}: what it says, and that jose accepts it`, async (t) => {
    const config = identityConfig({ algorithm, issuer: 'https://gw.example' })
    const keySet = publicKeysOf(config)
    const text = receiptSigner(config)(CLAIMS)
    const { payload } = await compactVerify(text, createLocalJWKSet(JSON.parse(keySet)))
    const claims = { iss: 'https://gw.example', ...CLAIMS }
    t.strictSame(JSON.parse(Buffer.from(payload).toString()), claims)
    const [{ kid }] = JSON.parse(keySet).keys
    t.strictSame(decodeProtectedHeader(text), { alg: algorithm, kid, typ: TYPE })
    t.strictSame({ ...(await verifyReceipt(text, keySet)) }, { claims, kid })
  })

t.test('the first key signs, and a receipt of an earlier one is verified by its kid', async (t) => {
  const [older, newer] = [newKey(), newKey()]
  const before = identityConfig({ keys: [older] })
  const after = identityConfig({ keys: [newer, older] })
  const [text, later] = [receiptSigner(before)(CLAIMS), receiptSigner(after)(CLAIMS)]
  for (const each of [text, later]) t.equal(await faultOf(each, publicKeysOf(after)), null)
  t.equal(await faultOf(later, publicKeysOf(before)), 'none of the keys has its kid')
  const both = JSON.stringify({
    keys: [before, after].flatMap((each) => JSON.parse(publicKeysOf(each)).keys),
  })
  t.equal(await faultOf(text, both), null, 'a key that is in the set twice')
})

t.test('no other text is a receipt, also if the key has signed it', async (t) => {
  const config = identityConfig()
  const keySet = publicKeysOf(config)
  const [{ kid, ...jwk }] = JSON.parse(keySet).keys
  const key = createPrivateKey(config.keys[0] ?? '')
  const header = { alg: 'ES256', kid, typ: TYPE }
  const text = signedText(key, header, CLAIMS)
  t.equal(await faultOf(text, keySet), null)
  const [head = '', payload = '', signature = ''] = text.split('.')
  const hmac = part({ ...header, alg: 'HS256' })
  const mac = (secret: string) =>
    createHmac('sha256', secret).update(`${hmac}.${payload}`).digest('base64url')
  const pem = createPrivateKey(config.keys[0] ?? '')
  const der = sign('sha256', Buffer.from(`${head}.${payload}`), pem).toString('base64url')
  const identity = new SignedIdentity(config, { memory: 2 ** 20 })
  const [, jwt = ''] = identity.lineFor('trainings', identified())?.pairs ?? []
  const refused: Readonly<Record<string, string>> = {
    nothing: '',
    'another word': 'receipt',
    'white space at its end': `${text}\n`,
    'white space in it': `${head}. ${payload}.${signature}`,
    'a part too many': `${text}.`,
    'a second receipt after it': `${text}.${text}`,
    'a part too few': `${head}.${payload}`,
    'no signature': `${head}.${payload}.`,
    'another signature': `${head}.${payload}.${signature.replace(/^./, (c) => (c === 'A' ? 'B' : 'A'))}`,
    'a signature with spare bits': spelledOtherwise(text),
    'a signature in DER': `${head}.${payload}.${der}`,
    'other claims': `${head}.${part({ ...CLAIMS, tenant: 'globex' })}.${signature}`,
    'detached claims (RFC 7797)': `${head}..${signature}`,
    padding: `${head}=.${payload}.${signature}`,
    'alg none': `${part({ ...header, alg: 'none' })}.${payload}.`,
    'alg none, with the signature': `${part({ ...header, alg: 'none' })}.${payload}.${signature}`,
    'an HMAC with the public key': `${hmac}.${payload}.${mac(JSON.stringify(jwk))}`,
    'an HMAC with x of the public key': `${hmac}.${payload}.${mac(jwk.x)}`,
    'another alg': signedText(key, { ...header, alg: 'EdDSA' }, CLAIMS),
    'no alg': signedText(key, { kid, typ: TYPE }, CLAIMS),
    'a signed identity of the same key': jwt,
    'another typ': signedText(key, { ...header, typ: 'JWT' }, CLAIMS),
    'typ in other letters': signedText(key, { ...header, typ: TYPE.toUpperCase() }, CLAIMS),
    'no typ': signedText(key, { alg: 'ES256', kid }, CLAIMS),
    'no kid': signedText(key, { alg: 'ES256', typ: TYPE }, CLAIMS),
    'a kid that is no text': signedText(key, { ...header, kid: [kid] }, CLAIMS),
    'another kid': signedText(key, { ...header, kid: `${kid}x` }, CLAIMS),
    crit: signedText(key, { ...header, crit: ['exp'], exp: 1 }, CLAIMS),
    b64: signedText(key, { ...header, b64: false, crit: ['b64'] }, CLAIMS),
    'b64: true': signedText(key, { ...header, b64: true }, CLAIMS),
    zip: signedText(key, { ...header, zip: 'DEF' }, CLAIMS),
    'a key of its own': signedText(key, { ...header, jwk: { ...jwk, kid } }, CLAIMS),
    'a place of keys': signedText(key, { ...header, jku: 'http://127.0.0.1/keys' }, CLAIMS),
    cty: signedText(key, { ...header, cty: 'JWT' }, CLAIMS),
    'a member of the header twice': signedText(
      key,
      Buffer.from(`{"alg":"ES256","kid":"${kid}","typ":"JWT","typ":"${TYPE}"}`).toString('base64url'),
      CLAIMS,
    ),
    'a claim twice': signedText(
      key,
      header,
      Buffer.from('{"tenant":"a","tenant":"b"}').toString('base64url'),
    ),
    'a nested JWS': signedText(key, { ...header }, Buffer.from(text).toString('base64url')),
    'a list': signedText(key, header, [CLAIMS]),
    'bytes that are no UTF-8': signedText(
      key,
      header,
      Buffer.concat([Buffer.from('{"tenant":"'), Buffer.from([0xff]), Buffer.from('"}')]).toString(
        'base64url',
      ),
    ),
    'a JSON serialization': JSON.stringify({ protected: head, payload, signature }),
    'too long': `${head}.${part({ ...CLAIMS, reason: 'x'.repeat(MAX_RECEIPT) })}.${signature}`,
  }
  for (const [name, each] of Object.entries(refused)) {
    const fault = await faultOf(each, keySet)
    t.type(fault, 'string', name)
    for (const secret of [signature, 'globex']) t.notOk(fault?.includes(secret), `${name}: says none of it`)
  }
})

/** The same bytes, with another last character. */
function spelledOtherwise(text: string): string {
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  // 64 bytes have 86 characters: the last one has four spare bits.
  return text.slice(0, -1) + letters.charAt(letters.indexOf(text.slice(-1)) | 1)
}

t.test('a key verifies by its own algorithm alone, and only if it is for signatures', async (t) => {
  const config = identityConfig()
  const text = receiptSigner(config)(CLAIMS)
  const [jwk] = JSON.parse(publicKeysOf(config)).keys
  const other = generateKeyPairSync('ed25519').publicKey.export({ format: 'jwk' })
  const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'jwk' })
  const { kid } = jwk
  const sets: Readonly<Record<string, unknown>> = {
    'another alg': { ...jwk, alg: 'ES384' },
    'for encryption': { ...jwk, use: 'enc' },
    'another curve': { ...jwk, crv: 'P-384' },
    'a point that is on no curve': { ...jwk, y: jwk.x },
    'without a coordinate': { ...jwk, y: undefined },
    'an Ed25519 key of that kid': { ...other, kid },
    'an RSA key of that kid': { ...rsa, kid },
    'a secret of that kid': { kty: 'oct', k: 'AAAA', kid },
    'another kid': { ...jwk, kid: 'x' },
    'no kid': { ...jwk, kid: undefined },
  }
  for (const [name, key] of Object.entries(sets))
    t.type(await faultOf(text, JSON.stringify({ keys: [key] })), 'string', name)
  for (const keySet of [
    '',
    '{}',
    '[]',
    'null',
    '{"keys":{}}',
    '{"keys":[null,7,"x"]}',
    '{"keys":[],"keys":[]}',
  ])
    t.type(await faultOf(text, keySet), 'string', keySet)
  t.equal(await faultOf(text, JSON.stringify({ keys: [{ ...jwk, alg: undefined, use: undefined }] })), null)
  t.equal(
    await faultOf(text, JSON.stringify({ keys: [{ ...other, kid }, null, jwk] })),
    null,
    'a key of the same kid that did not sign it',
  )
})

t.test('1,000 instances', async (t) => {
  const config = identityConfig()
  const instances = Array.from({ length: 1000 }, (_, at) => ({
    id: `${at}`.padStart(22, '0'),
    name: `gateway-${at}.${'n'.repeat(200)}.example:12345`,
    how: 'acknowledged',
    ms: 12.345,
    cut: 1000,
  }))
  const text = receiptSigner(config)({ ...CLAIMS, instances })
  t.ok(text.length < MAX_RECEIPT, `${text.length} characters`)
  t.equal(await faultOf(text, publicKeysOf(config)), null)
  const read = readReceipt(text)
  t.same(isReceiptFault(read) ? [] : read.claims['instances'], instances)
})
