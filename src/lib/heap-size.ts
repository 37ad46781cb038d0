/**
 * What things take of V8's heap: bytes, rather too many than too few. Used where what is remembered has a bound that
 * somebody configures.
 */

/** A text, whose characters may be of two bytes. */
export function textBytes({ length }: string): number {
  return STRING_HEADER_BYTES + 2 * length
}

/** A text that is known to be ASCII. */
export function asciiBytes({ length }: string): number {
  return STRING_HEADER_BYTES + length
}

/** What V8 cuts out of a text keeps all of it; this doesn't. @param text latin1 */
export function detachedText(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1')
}

/** A list that has grown to these. */
export function listBytes(texts: readonly string[]): number {
  return 12 * texts.length + textsBytes(texts)
}

export function textsBytes(texts: Iterable<string>): number {
  let bytes = 0
  for (const text of texts) bytes += textBytes(text)
  return bytes
}

/** Map, hash, length, and up to the next eight. */
const STRING_HEADER_BYTES = 24

/** A Map's or Set's own, and of each entry, as it may be half empty. */
export const MAP_BYTES = 200
export const MAP_ENTRY_BYTES = 56
export const SET_ENTRY_BYTES = 40

/** The last outcome of a principal (`decision-cache.ts`). @param seats that it names for one space, at most */
export function authorizationBytes(seats: number): number {
  return DECISION_BYTES + CONSIDERED_SEAT_BYTES * seats
}

/** Its objects, a list that has room for the first Seats, and its place. */
const DECISION_BYTES = 400
/** Of each Seat, with its id. */
const CONSIDERED_SEAT_BYTES = 140
