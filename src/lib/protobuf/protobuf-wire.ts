/**
 * The wire format (Protocol Buffers, "Encoding"): how the value of a field is encoded, and varints, which
 * have seven bits a byte, the least significant first; the high bit says that another byte follows.
 */

export const VARINT = 0
export const FIXED64 = 1
/** Strings, bytes, messages and packed repeated numbers. */
export const LENGTH_DELIMITED = 2
export const FIXED32 = 5

/** The largest number of a field. */
export const MAX_FIELD_NUMBER = 2 ** 29 - 1

/** The bytes of 64 bits: the tenth holds one bit. */
const MAX_BYTES = 10
const MORE = 0x80
const LOW_BITS = 0x7f
/** 2^49: seven bytes are read as a number without a loss, and the others as a bigint. */
const NUMBER_BYTES = 7

export interface Varint {
  /** The value, from 0 to 2^64 - 1. */
  value: bigint | number
  /** The position after the last byte. */
  end: number
}

/**
 * Reads the varint at `at`.
 *
 * @returns a number below 2^49, a bigint from there on; null if it is cut off, has more than 64 bits, or more
 *   bytes than its value needs
 */
export function readVarint(bytes: Buffer, at: number): Varint | null {
  const length = lengthAt(bytes, at)
  if (length === 0) return null
  const end = at + length
  const last = bytes[end - 1]
  if (last === undefined || (last === 0 && length > 1) || (length === MAX_BYTES && last > 1)) return null
  return { value: length <= NUMBER_BYTES ? smallValue(bytes, at, end) : largeValue(bytes, at, end), end }
}

/** Bytes of the varint; 0 if it is cut off or too long. */
function lengthAt(bytes: Buffer, at: number): number {
  for (let length = 1; length <= MAX_BYTES; length++) {
    const byte = bytes[at + length - 1]
    if (byte === undefined) return 0
    if (byte < MORE) return length
  }
  return 0
}

function smallValue(bytes: Buffer, at: number, end: number): number {
  let value = 0
  for (let i = end - 1; i >= at; i--) value = value * MORE + ((bytes[i] ?? 0) & LOW_BITS)
  return value
}

function largeValue(bytes: Buffer, at: number, end: number): bigint {
  let value = 0n
  for (let i = end - 1; i >= at; i--) value = (value << 7n) | BigInt((bytes[i] ?? 0) & LOW_BITS)
  return value
}

/**
 * Bytes that the varint of a safe integer takes.
 *
 * @param value from 0
 */
export function varintLength(value: number): number {
  let length = 1
  for (let rest = value; rest >= MORE; rest = Math.floor(rest / MORE)) length++
  return length
}

/**
 * Writes the varint of a safe integer.
 *
 * @returns the position after it
 */
export function writeVarint(bytes: Buffer, at: number, value: number): number {
  let rest = value
  let position = at
  for (; rest >= MORE; rest = Math.floor(rest / MORE)) bytes[position++] = (rest % MORE) | MORE
  bytes[position++] = rest
  return position
}

/**
 * Writes a varint of up to 64 bits.
 *
 * @returns the position after it
 */
export function writeLargeVarint(bytes: Buffer, at: number, value: bigint): number {
  let rest = value
  let position = at
  for (; rest >= 0x80n; rest >>= 7n) bytes[position++] = Number(rest & 0x7fn) | MORE
  bytes[position++] = Number(rest)
  return position
}
