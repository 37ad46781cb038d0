/**
 * API keys: what is known of one, and the codec of its text. Pure.
 *
 * A key is `sk_` and, in base62 (digits `0-9A-Za-z`, most significant first), one big integer: the bytes of the ASCII
 * text `{tenant}_{id}_{random}`, most significant first. Each key has one spelling: no leading zero digits.
 */

import { createHash } from 'node:crypto'
import { isTenantId } from './tenant.ts'
import { isUlid } from './ulid.ts'

/** An API key as people may see it: never the key itself. Times in ms since the epoch. */
export interface ApiKey {
  /** A ULID: sorts in order of creation; letters and digits only, so that `_` can part a key's fields. */
  readonly id: string
  readonly tenant: string
  readonly name: string
  /** The names, as they are now, of the Seats it acts through. Deleted Seats are gone from it for good. */
  readonly seats: readonly string[]
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** An API key as the data plane needs it. */
export interface StoredApiKey {
  readonly id: string
  readonly tenant: string
  /** SHA-256 of the key's text. */
  readonly hash: Uint8Array
  readonly seatIds: readonly string[]
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** What a key's text says, believed only once its hash has been compared. */
export interface ApiKeyFields {
  readonly tenant: string
  readonly id: string
}

const PREFIX = 'sk_'
/** Longer than any key: 63 + 26 + 43 characters and two `_` make 181 digits. Bounds the work on garbage. */
const MAX_LENGTH = 200
/** 22 letters and digits carry 128 bits even where they are base62; 43 carry 256. */
const RANDOM = /^[0-9A-Za-z]{22,43}$/

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** So many digits are still exact as a double (62^8 < 2^53), which spares a BigInt operation per digit. */
const CHUNK = 8
const CHUNK_BASE = 62n ** BigInt(CHUNK)

/** Throws a RangeError, which names none of them, where a field has not its syntax: such a key would never be let in. */
export function formatApiKey(tenant: string, id: string, random: string): string {
  if (!isTenantId(tenant) || !isUlid(id) || !RANDOM.test(random)) {
    throw new RangeError('a field of the API key has not its syntax')
  }
  return PREFIX + toBase62(`${tenant}_${id}_${random}`)
}

/** Null where the text is not exactly what {@link formatApiKey} would write. */
export function parseApiKey(text: string): ApiKeyFields | null {
  if (text.length > MAX_LENGTH || !text.startsWith(PREFIX)) return null
  const plain = fromBase62(text)
  if (plain === null) return null
  const [tenant = '', id = '', random = '', ...rest] = plain.split('_')
  if (!isTenantId(tenant) || !isUlid(id) || !RANDOM.test(random) || rest.length > 0) return null
  return { tenant, id }
}

/** SHA-256 of the key's text. A key has 128 random bits or more: no salt and no slow hash is needed. */
export function hashApiKey(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

function toBase62(ascii: string): string {
  let rest = BigInt(`0x${Buffer.from(ascii, 'latin1').toString('hex')}`)
  let digits = ''
  while (rest > 0n) {
    let chunk = Number(rest % CHUNK_BASE)
    rest /= CHUNK_BASE
    for (let place = 0; place < CHUNK; place++) {
      digits = DIGITS.charAt(chunk % 62) + digits
      chunk = Math.floor(chunk / 62)
    }
  }
  return digits.replace(/^0+/, '')
}

/**
 * The text behind the prefix, read back; null where it isn't the one spelling of some bytes. A number has one spelling
 * but for leading zeros, and so has its text, whose first character is never NUL: refusing a leading zero digit is as
 * good as encoding again and comparing.
 */
function fromBase62(text: string): string | null {
  if (text.length === PREFIX.length || text.charCodeAt(PREFIX.length) === 0x30) return null
  let number = 0n
  for (let from = PREFIX.length; from < text.length; from += CHUNK) {
    const to = Math.min(from + CHUNK, text.length)
    let chunk = 0
    for (let at = from; at < to; at++) {
      const value = digitValue(text.charCodeAt(at))
      if (value < 0) return null
      chunk = chunk * 62 + value
    }
    number = number * (to - from === CHUNK ? CHUNK_BASE : 62n ** BigInt(to - from)) + BigInt(chunk)
  }
  const hex = number.toString(16)
  // An odd length: the first byte is below 0x10, a control character that no field has.
  return hex.length % 2 === 0 ? Buffer.from(hex, 'hex').toString('latin1') : null
}

function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (code >= 0x41 && code <= 0x5a) return code - 0x41 + 10
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 36
  return -1
}
