/** The prepared HMAC against Node.js' own, and RFC 4231. */

import { createHmac, randomBytes } from 'node:crypto'
import t from 'tap'
import { HmacKey } from '../../../src/decision/authn/hmac.ts'

const HASHES = { HS256: 'sha256', HS384: 'sha384', HS512: 'sha512' } as const
const ALGORITHMS = Object.keys(HASHES) as (keyof typeof HASHES)[]

function reference(algorithm: keyof typeof HASHES, secret: Uint8Array, input: string): string {
  return createHmac(HASHES[algorithm], secret).update(input, 'latin1').digest('base64url')
}

t.test('RFC 4231, test cases 2 and 6', async (t) => {
  const jefe = new HmacKey('HS256', Buffer.from('Jefe'))
  t.equal(
    Buffer.from(jefe.sign('what do ya want for nothing?'), 'base64url').toString('hex'),
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
  )
  const long = new HmacKey('HS512', Buffer.alloc(131, 0xaa))
  t.equal(
    Buffer.from(long.sign('Test Using Larger Than Block-Size Key - Hash Key First'), 'base64url').toString(
      'hex',
    ),
    '80b24263c7c1a3ebb71493c1dd7be8b49b46d1f41b4aeec1121b013783f8f352' +
      '6b56d037e05f2598bd0fd2215d6a1e5295e64f73f63f0aec8b915a985d786598',
  )
})

t.test('equals createHmac for secrets and inputs of all lengths around a block', async (t) => {
  for (const algorithm of ALGORITHMS)
    for (const secretBytes of [1, 31, 32, 63, 64, 65, 127, 128, 129, 300]) {
      const secret = randomBytes(secretBytes)
      const key = new HmacKey(algorithm, secret)
      for (const length of [0, 1, 55, 56, 63, 64, 65, 111, 112, 127, 128, 129, 1000, 16 * 1024]) {
        const input = randomBytes(length).toString('base64').slice(0, length)
        const signature = reference(algorithm, secret, input)
        if (key.sign(input) !== signature) t.fail(`${algorithm}, ${secretBytes}, ${length}`)
        if (!key.verifies(input, signature)) t.fail(`verifies ${algorithm}, ${secretBytes}, ${length}`)
      }
    }
})

t.test('a longer input before leaves nothing behind', async (t) => {
  const secret = randomBytes(32)
  const [one, other] = [new HmacKey('HS256', secret), new HmacKey('HS512', randomBytes(64))]
  other.sign('x'.repeat(10_000))
  t.equal(one.sign('short'), reference('HS256', secret, 'short'))
})

t.test('accepts no other spelling of the signature', async (t) => {
  const secret = randomBytes(32)
  const key = new HmacKey('HS256', secret)
  const signature = reference('HS256', secret, 'input')
  const last = signature.at(-1) ?? ''
  const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  const others = [
    '',
    signature.slice(0, -1),
    `${signature}=`,
    `${signature}A`,
    ` ${signature}`,
    Buffer.from(signature, 'base64url').toString('base64'),
    // Spare bits: another last character that decodes to the same bytes (RFC 4648, section 3.5).
    signature.slice(0, -1) + (alphabet[alphabet.indexOf(last) ^ 1] ?? ''),
    // As latin1, the last character would become the expected one.
    signature.slice(0, -1) + String.fromCharCode(last.charCodeAt(0) + 0x100),
  ]
  for (const each of others) t.notOk(key.verifies('input', each), JSON.stringify(each))
  t.notOk(key.verifies('Input', signature))
  t.throws(() => key.sign('x'.repeat(16 * 1024 + 1)), { name: 'RangeError' })
})
