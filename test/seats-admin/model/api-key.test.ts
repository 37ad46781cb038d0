import { createHash, randomBytes } from 'node:crypto'
import fc from 'fast-check'
import t from 'tap'
import { formatApiKey, hashApiKey, parseApiKey } from '../../../seats-admin/model/api-key.ts'
import { crockford, ulid } from '../../../seats-admin/model/ulid.ts'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** An independent, digit-by-digit implementation of the definition. */
function reference(text: string): string {
  let number = 0n
  for (const byte of Buffer.from(text, 'latin1')) number = number * 256n + BigInt(byte)
  let digits = ''
  for (; number > 0n; number /= 62n) digits = DIGITS.charAt(Number(number % 62n)) + digits
  return `sk_${digits}`
}

const id = ulid(Date.now(), randomBytes(16))
const random = crockford(randomBytes(26))
const key = formatApiKey('acme', id, random)

const tenants = fc.stringMatching(/^[a-z0-9][a-z0-9-]{0,62}$/)
const ids = fc
  .tuple(fc.integer({ min: 0, max: 2 ** 48 - 1 }), fc.uint8Array({ minLength: 16, maxLength: 16 }))
  .map(([time, bytes]) => ulid(time, bytes))
const randoms = fc.stringMatching(/^[0-9A-Za-z]{22,43}$/)

t.test('round trip, equal to the definition', async () => {
  fc.assert(
    fc.property(tenants, ids, randoms, (tenant, keyId, secret) => {
      const text = formatApiKey(tenant, keyId, secret)
      const read = parseApiKey(text)
      return (
        text === reference(`${tenant}_${keyId}_${secret}`) &&
        /^sk_[A-Za-z0-9]+$/.test(text) &&
        text.length <= 200 &&
        read?.tenant === tenant &&
        read.id === keyId
      )
    }),
  )
})

t.test('accepts the longest key', async (t) => {
  const tenant = 'z'.repeat(63)
  t.same(parseApiKey(formatApiKey(tenant, id, 'z'.repeat(43))), { tenant, id })
})

t.test('every accepted key has a single spelling', async () => {
  const near = fc.tuple(
    fc.integer({ min: 0, max: key.length }),
    fc.constantFrom(...DIGITS, '-', '_', ' ', '\0', 'ä'),
  )
  fc.assert(
    fc.property(near, fc.boolean(), ([at, letter], insert) => {
      const text = key.slice(0, at) + letter + key.slice(insert ? at : at + 1)
      const read = parseApiKey(text)
      if (text === key || read === null) return true
      // Another valid key: it must be the encoder's output for its content.
      let number = 0n
      for (const digit of text.slice(3)) number = number * 62n + BigInt(DIGITS.indexOf(digit))
      return reference(Buffer.from(number.toString(16), 'hex').toString('latin1')) === text
    }),
    { numRuns: 2000 },
  )
})

t.test('refused keys', async (t) => {
  const plain = `acme_${id}_${random}`
  const refused: Record<string, string> = {
    empty: '',
    'prefix only': 'sk_',
    'another prefix': `SK_${key.slice(3)}`,
    'no prefix': key.slice(3),
    'a leading zero digit': `sk_0${key.slice(3)}`,
    zero: 'sk_0',
    'white space behind': `${key} `,
    'a line end behind': `${key}\n`,
    'white space before': ` ${key}`,
    'a digit missing': key.slice(0, -1),
    'a digit more': `${key}0`,
    'a letter that is no digit': `${key.slice(0, -1)}-`,
    'a digit of another script': `${key.slice(0, -1)}\u0661`,
    'full width': `${key.slice(0, -1)}\uff11`,
    'a field less': reference(`acme_${id}`),
    'a field more': reference(`${plain}_x`),
    'an empty field more': reference(`${plain}_`),
    'an empty tenant': reference(`_${id}_${random}`),
    'a tenant of upper case': reference(`ACME_${id}_${random}`),
    'a tenant too long': reference(`${'a'.repeat(64)}_${id}_${random}`),
    'an id of lower case': reference(`acme_${id.toLowerCase()}_${random}`),
    'an id too short': reference(`acme_${id.slice(1)}_${random}`),
    'too little randomness': reference(`acme_${id}_${random.slice(0, 21)}`),
    'too much randomness': reference(`acme_${id}_${'a'.repeat(44)}`),
    'other bytes in it': reference(`acme_${id}_${random.slice(1)}\xe4`),
    'a NUL before it': reference(`\x01${plain}`),
    'text over the limit': `sk_${'z'.repeat(198)}`,
    'text far over the limit': `sk_${'z'.repeat(1_000_000)}`,
  }
  for (const [what, text] of Object.entries(refused)) t.equal(parseApiKey(text), null, what)
})

t.test('a field that does not parse back is not written', async (t) => {
  for (const fields of [
    ['a_b', id, random],
    ['', id, random],
    ['acme', 'x', random],
    ['acme', id, 'short'],
    ['acme', id, `${random}_`],
  ] as const) {
    t.throws(() => formatApiKey(fields[0], fields[1], fields[2]), RangeError)
  }
})

t.test('the hash is SHA-256 of the text', async (t) => {
  t.same(Buffer.from(hashApiKey(key)), createHash('sha256').update(key, 'ascii').digest())
  t.equal(hashApiKey(key).length, 32)
})
