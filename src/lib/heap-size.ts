/** Upper estimates of V8 heap sizes in bytes, for caches whose bound is configured. */

/** A string that may have two bytes a character. */
export function textBytes({ length }: string): number {
  return STRING_HEADER_BYTES + 2 * length
}

/** A string that is known to be ASCII. */
export function asciiBytes({ length }: string): number {
  return STRING_HEADER_BYTES + length
}

/**
 * A copy of the string. V8 keeps the whole parent of a substring in memory.
 *
 * @param text latin1
 */
export function detachedText(text: string): string {
  if (text.length > scratch.length) return Buffer.from(text, 'latin1').toString('latin1')
  return scratch.toString('latin1', 0, scratch.write(text, 'latin1'))
}

/** A buffer for each copy would take three times as long. */
const scratch = Buffer.alloc(2048)

/** An array that has grown element by element. */
export function listBytes(texts: readonly string[]): number {
  return 12 * texts.length + textsBytes(texts)
}

export function textsBytes(texts: Iterable<string>): number {
  let bytes = 0
  for (const text of texts) bytes += textBytes(text)
  return bytes
}

/** Map, hash, length, and rounding up to 8 bytes. */
const STRING_HEADER_BYTES = 24

/** A Map or Set, and each of its entries. A table may be half empty. */
export const MAP_BYTES = 208
export const MAP_ENTRY_BYTES = 56
export const SET_ENTRY_BYTES = 40

/** An object with its numbers. */
export const OBJECT_BYTES = 200
/** A number that is no small integer. */
export const NUMBER_BYTES = 16

/**
 * The last decision of a principal (`decision-cache.ts`).
 *
 * @param seats the largest number of Seats for one space
 */
export function authorizationBytes(seats: number): number {
  return DECISION_BYTES + CONSIDERED_SEAT_BYTES * seats
}

/** The objects, an array with capacity for the first Seats, and the cache entry. */
const DECISION_BYTES = 400
/** One considered Seat with its id. */
const CONSIDERED_SEAT_BYTES = 140
