/**
 * Encodes field blocks of HTTP/2 (RFC 7541) by the static table. There is no dynamic table: no field leaves a
 * trace in the length of a later block, and no secret stays in the memory of a connection.
 */

import { addToHash, hashOf } from '../../../lib/text-hash.ts'
import { OWN_CREDENTIAL_FIELDS } from '../../../model/principal.ts'
import { INITIAL_TABLE_BYTES } from './dynamic-table.ts'
import { exactStaticIndex, STATIC_NAMES, staticIndex } from './static-table.ts'

/** Representations of fields (RFC 7541, section 6): the highest bits of their first byte. */
const INDEXED = 0x80
const LITERAL = 0x00
const NEVER_INDEXED = 0x10
const SIZE_UPDATE = 0x20

/** Fields that hold credentials, which no intermediary may index (RFC 7541, section 7.1.3). In lower case. */
const CREDENTIALS = ['authorization', 'cookie', 'proxy-authorization', 'set-cookie', ...OWN_CREDENTIAL_FIELDS]

/** `{"` in base64url: a JWT, in whatever field, is a credential. */
const JSON_OBJECT = 'eyJ'

/** The index of `accept-encoding: gzip, deflate`. No later entry of the static table has a value. */
const LAST_WITH_VALUE = 16

export class HpackEncoder {
  readonly #writer = new BlockWriter()
  /** The peer has to be told the size of the table, 0, as it reduced the size that it had assumed. */
  #updateDue = false

  /** @param bytes the peer's SETTINGS_HEADER_TABLE_SIZE. The next block announces a reduction. */
  setTableSize(bytes: number): void {
    if (bytes < INITIAL_TABLE_BYTES) this.#updateDue = true
  }

  /**
   * Starts a block, and drops one without an end.
   *
   * @param reserve bytes before the block that `end` leaves free
   */
  begin(reserve = 0): void {
    this.#writer.begin(reserve)
    if (this.#updateDue) this.#writer.integer(SIZE_UPDATE, 0x1f, 0)
  }

  /**
   * Credentials are never indexed. Throws a RangeError if the field is not latin1.
   *
   * @param name in lower case
   */
  field(name: string, value: string): void {
    const index = staticIndex(name)
    const exact = index !== 0 && index <= LAST_WITH_VALUE ? exactStaticIndex(index, value) : 0
    if (exact !== 0) return this.#writer.integer(INDEXED, 0x7f, exact)
    this.#writer.integer(isSensitive(index, name, value) ? NEVER_INDEXED : LITERAL, 0x0f, index)
    if (index === 0) this.#writer.string(name)
    this.#writer.string(value)
  }

  /**
   * Adds fields that are lines of HTTP/1.1.
   *
   * @param lines writable lines, with one space before the value
   * @returns their number
   */
  lines(lines: string): number {
    return encodeLines(this.#writer, lines)
  }

  /** The block, after the reserved bytes. It belongs to the caller. */
  end(): Buffer {
    this.#updateDue = false
    return this.#writer.end()
  }
}

/** @param index of the name in the static table */
function isSensitive(index: number, name: string, value: string): boolean {
  return CREDENTIALS.includes(name) || (index === 0 && value.startsWith(JSON_OBJECT))
}

const COLON = 0x3a
const CR = 0x0d
const BEYOND_LATIN1 = /[^\0-\xff]/
const JWT_START = Buffer.from(JSON_OBJECT)

/** RFC 9113, section 8.2.2. */
const CONNECTION_SPECIFIC = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']

/** Each byte in lower case. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
)

interface NameEntry {
  readonly bytes: Uint8Array
  /** The index in the static table; 0 if the name is not there. */
  readonly index: number
  readonly kind: number
  readonly isDropped: boolean
}

/** The names by their hashes. */
const NAMES: ReadonlyMap<number, NameEntry> = new Map(
  [...STATIC_NAMES, ...CONNECTION_SPECIFIC, ...CREDENTIALS].map((name) => [hashOf(name), nameEntry(name)]),
)

function nameEntry(name: string): NameEntry {
  return {
    bytes: Buffer.from(name),
    index: staticIndex(name),
    kind: CREDENTIALS.includes(name) ? NEVER_INDEXED : LITERAL,
    isDropped: CONNECTION_SPECIFIC.includes(name),
  }
}

let scratch = Buffer.allocUnsafeSlow(4096)

/**
 * Field lines of HTTP/1.1 as fields of a field block: names in lower case, and no field of a connection (RFC
 * 9113, section 8.2). They are encoded from their bytes: a string for each name and value takes twice as
 * long. Throws a RangeError if a character is not latin1.
 *
 * @returns the number of lines
 */
function encodeLines(writer: BlockWriter, lines: string): number {
  const { length } = lines
  let count = 0
  if (BEYOND_LATIN1.test(lines)) throw notLatin1()
  if (length > scratch.length) scratch = Buffer.allocUnsafeSlow(2 * length)
  const bytes = scratch
  bytes.write(lines, 0, length, 'latin1')
  for (let at = 0; at < length;) {
    let hash = 0
    let colon = at
    for (; colon < length && bytes[colon] !== COLON; colon++) {
      const code = LOWER[bytes[colon] ?? 0] ?? 0
      bytes[colon] = code
      hash = addToHash(hash, code)
    }
    let end = colon
    while (end < length && bytes[end] !== CR) end++
    encodeLine(writer, bytes, at, colon, end, hash)
    at = end + 2
    count++
  }
  return count
}

/**
 * @param at of the name, in lower case
 * @param colon its end
 * @param end of the value
 */
function encodeLine(
  writer: BlockWriter,
  bytes: Uint8Array,
  at: number,
  colon: number,
  end: number,
  hash: number,
): void {
  const candidate = NAMES.get(hash)
  const name = candidate !== undefined && isAt(candidate.bytes, bytes, at, colon) ? candidate : null
  if (name?.isDropped === true) return
  const value = colon + 2
  const index = name?.index ?? 0
  const isSecret = index === 0 && isAt(JWT_START, bytes, value, value + JWT_START.length)
  writer.integer(isSecret ? NEVER_INDEXED : (name?.kind ?? LITERAL), 0x0f, index)
  if (index === 0) writer.bytes(bytes, at, colon)
  writer.bytes(bytes, value, end)
}

function isAt(wanted: Uint8Array, bytes: Uint8Array, from: number, to: number): boolean {
  if (to - from !== wanted.length) return false
  for (let i = 0; i < wanted.length; i++) if (wanted[i] !== bytes[from + i]) return false
  return true
}

/** Bytes of a buffer that blocks are written into, one after the other. */
const SLAB = 32 * 1024
/** Bytes of an integer at most. */
const INTEGER = 6
/** Up to this many characters, a loop is faster than a call of native code. */
const SHORT = 24
const SHORT_BYTES = 64

let slab = Buffer.allocUnsafeSlow(SLAB)
/** The position of the next block. */
let next = 0
/** Blocks that were begun. */
let blocks = 0

/**
 * Writes integers and strings of a field block (RFC 7541, section 5). Strings have no Huffman code. A block
 * is written without a break: until `end`, no other writer begins.
 */
class BlockWriter {
  #start = 0
  #at = 0
  /** The number of the block. */
  #block = 0

  /**
   * Drops a block without an end.
   *
   * @param reserve free bytes before the block
   */
  begin(reserve: number): void {
    this.#block = ++blocks
    this.#start = next
    this.#at = next
    this.#ensure(reserve)
    this.#at += reserve
  }

  /**
   * @param flags the bits of the first byte before the prefix
   * @param mask all bits of the prefix
   */
  integer(flags: number, mask: number, value: number): void {
    this.#ensure(INTEGER)
    if (value < mask) {
      slab[this.#at++] = flags | value
      return
    }
    slab[this.#at++] = flags | mask
    let rest = value - mask
    for (; rest >= 0x80; rest >>>= 7) slab[this.#at++] = (rest & 0x7f) | 0x80
    slab[this.#at++] = rest
  }

  /** Throws a RangeError if a character is not latin1: it would become another byte. */
  string(text: string): void {
    const { length } = text
    this.integer(0, 0x7f, length)
    this.#ensure(length)
    if (length <= SHORT) this.#copy(text)
    else if (BEYOND_LATIN1.test(text)) throw notLatin1()
    else slab.write(text, this.#at, length, 'latin1')
    this.#at += length
  }

  /** A string of bytes. */
  bytes(source: Uint8Array, from: number, to: number): void {
    const length = to - from
    this.integer(0, 0x7f, length)
    this.#ensure(length)
    const [into, at] = [slab, this.#at]
    if (length <= SHORT_BYTES) for (let i = 0; i < length; i++) into[at + i] = source[from + i] ?? 0
    else into.set(source.subarray(from, to), at)
    this.#at += length
  }

  #copy(text: string): void {
    let all = 0
    for (let i = 0; i < text.length; i++) {
      const code = text.charCodeAt(i)
      slab[this.#at + i] = code
      all |= code
    }
    if (all > 0xff) throw notLatin1()
  }

  /** The block with the reserved bytes before it. Its bytes stay as they are. */
  end(): Buffer {
    if (this.#block !== blocks) throw new Error('another block was begun before the end of this one')
    this.#block = 0
    next = this.#at
    return slab.subarray(this.#start, this.#at)
  }

  /** A block that outgrows the slab moves to a new one. */
  #ensure(bytes: number): void {
    if (this.#at + bytes <= slab.length) return
    const written = this.#at - this.#start
    const larger = Buffer.allocUnsafeSlow(Math.max(SLAB, 2 * (written + bytes)))
    slab.copy(larger, 0, this.#start, this.#at)
    slab = larger
    this.#start = 0
    this.#at = written
  }
}

function notLatin1(): RangeError {
  return new RangeError('a field has a character that is not latin1')
}
