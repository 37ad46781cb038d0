/**
 * Ids of Seats and API keys: ULIDs (github.com/ulid/spec), 48 bits of time and 80 random bits as 26
 * upper-case characters of Crockford's base32. Their text sorts by time.
 */

import { randomBytes } from 'node:crypto'

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ'
/** The first character holds only the upper 3 of 48 bits. */
export const ULID = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/

const TIME_CHARACTERS = 10
const RANDOM_CHARACTERS = 16
const MAX_TIME = 2 ** 48 - 1

export function isUlid(text: string): boolean {
  return ULID.test(text)
}

/**
 * The time part of the next id: later than all earlier ones, even when the clock stops or steps back.
 *
 * @param last time part of the newest id
 */
export function nextUlidTime(now: number, last: number): number {
  return Math.max(Math.floor(now), last + 1)
}

/**
 * @param time ms since the epoch, below 2^48
 * @param random 16 bytes; the lower 5 bits of each are used
 */
export function ulid(time: number, random = nextRandom()): string {
  if (!Number.isInteger(time) || time < 0 || time > MAX_TIME)
    throw new RangeError('the time is out of range for a ULID')
  if (random.length !== RANDOM_CHARACTERS) throw new RangeError('a ULID takes 16 random bytes')
  let head = ''
  for (let rest = time; head.length < TIME_CHARACTERS; rest = Math.floor(rest / 32)) {
    head = CROCKFORD.charAt(rest % 32) + head
  }
  return head + crockford(random)
}

/** Drawn for many ids at once, which takes a tenth of the time. */
let drawn = Buffer.alloc(0)

function nextRandom(): Uint8Array {
  if (drawn.length === 0) drawn = randomBytes(RANDOM_CHARACTERS * 256)
  const bytes = drawn.subarray(0, RANDOM_CHARACTERS)
  drawn = drawn.subarray(RANDOM_CHARACTERS)
  return bytes
}

/** One character for the lower 5 bits of each byte: 32 divides 256, so all characters are equally likely. */
export function crockford(random: Uint8Array): string {
  let text = ''
  for (const byte of random) text += CROCKFORD.charAt(byte & 31)
  return text
}
