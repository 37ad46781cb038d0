/**
 * API keys and the codec of their text.
 *
 * A key is `sk_` and, in base62 (digits `0-9A-Za-z`, most significant first), one big integer: the bytes of
 * the ASCII text `{tenant}_{id}_{random}`, most significant first. Each key has one spelling: no leading zero
 * digits. `store/api-key-writer.ts` draws the random part and stores the hash of the text.
 */

import { hash } from 'node:crypto'
import { isTenantId } from './tenant.ts'
import { isUlid } from './ulid.ts'

/** The public data of an API key, without its text. Times in ms since the epoch. */
export interface ApiKey {
  /** A ULID: sorts in order of creation; contains no `_`, which separates a key's fields. */
  readonly id: string
  readonly tenant: string
  readonly name: string
  /** Counts the writes, from 1. */
  readonly version: number
  /** The current names of its Seats. Deleted Seats are removed permanently. */
  readonly seats: readonly string[]
  readonly createdBy: string
  readonly createdAt: number
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** The `sub` of the user who owns the key: a revocation of the user revokes it; null: it has no owner. */
  readonly owner: string | null
  /** The time of a recorded use, at most some minutes before the last use; null: no use is recorded. */
  readonly lastUsedAt: number | null
}

/** A request that an API key authenticated. */
export interface KeyUse {
  readonly tenant: string
  readonly id: string
  /** ms since the epoch */
  readonly at: number
}

/** The data of an API key for authentication. */
export interface StoredApiKey {
  readonly id: string
  readonly tenant: string
  /** SHA-256 of the key's text. */
  readonly hash: Uint8Array
  readonly seatIds: readonly string[]
  readonly expiresAt: number | null
  readonly revokedAt: number | null
  /** As {@link ApiKey.owner}. */
  readonly owner: string | null
}

/** @param now ms since the epoch. A key is valid up to its expiry, exclusive. */
export function isAccepted(
  { expiresAt, revokedAt }: Pick<ApiKey, 'expiresAt' | 'revokedAt'>,
  now: number,
): boolean {
  return revokedAt === null && (expiresAt === null || now < expiresAt)
}

/** The fields of a key's text, trusted only after its hash was compared. */
interface ApiKeyFields {
  readonly tenant: string
  readonly id: string
}

const PREFIX = 'sk_'
/**
 * Longer than any key: 63 + 26 + 43 characters and two `_` make 181 digits. Bounds the work on invalid text.
 */
const MAX_LENGTH = 200
/** 22 base62 characters hold 128 bits; 43 hold 256. */
const RANDOM = /^[0-9A-Za-z]{22,43}$/

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'
/** Digits that are exact as a double (62^8 < 2^53), which saves a BigInt operation per digit. */
const CHUNK = 8
const CHUNK_BASE = 62n ** BigInt(CHUNK)

/** @throws RangeError, without the values, when a field has invalid syntax */
export function formatApiKey(tenant: string, id: string, random: string): string {
  if (!isTenantId(tenant) || !isUlid(id) || !RANDOM.test(random)) {
    throw new RangeError('a field of the API key has invalid syntax')
  }
  return PREFIX + toBase62(`${tenant}_${id}_${random}`)
}

/** @returns null for text that {@link formatApiKey} would not write */
export function parseApiKey(text: string): ApiKeyFields | null {
  if (text.length > MAX_LENGTH || !text.startsWith(PREFIX)) return null
  const plain = fromBase62(text)
  if (plain === null) return null
  const [tenant = '', id = '', random = '', ...rest] = plain.split('_')
  if (!isTenantId(tenant) || !isUlid(id) || !RANDOM.test(random) || rest.length > 0) return null
  return { tenant, id }
}

/** SHA-256 of the key's text. With at least 128 random bits a key needs no salt and no slow hash. */
export function hashApiKey(text: string): Buffer {
  return hash('sha256', text, 'buffer')
}

function toBase62(ascii: string): string {
  let rest = BigInt(`0x${Buffer.from(ascii, 'latin1').toString('hex')}`)
  let digits = ''
  for (; rest > 0n; rest /= 62n) digits = DIGITS.charAt(Number(rest % 62n)) + digits
  return digits
}

/**
 * Decodes the text after the prefix; null for a non-canonical encoding. Only leading zeros make an encoding
 * ambiguous, and the first character of the decoded text is never NUL, so refusing a leading zero digit is
 * sufficient.
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
  // With an odd length the first byte is below 0x10, a control character that no field contains.
  return hex.length % 2 === 0 ? Buffer.from(hex, 'hex').toString('latin1') : null
}

function digitValue(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  if (code >= 0x41 && code <= 0x5a) return code - 0x41 + 10
  if (code >= 0x61 && code <= 0x7a) return code - 0x61 + 36
  return -1
}
