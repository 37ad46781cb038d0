/**
 * Field lines of HTTP/1.1 as fields of a field block (RFC 7541): names in lower case, and no field of a connection (RFC 9113,
 * section 8.2). They are encoded from their bytes: a string for each name and value takes twice as long.
 */

import { addToHash, hashOf } from '../../../lib/text-hash.ts'
import { type BlockWriter, notLatin1 } from './field-block-writer.ts'
import { CREDENTIALS, JSON_OBJECT, LITERAL, NEVER_INDEXED } from './representations.ts'
import { STATIC_NAMES, staticIndex } from './static-table.ts'

const COLON = 0x3a
const CR = 0x0d
const BEYOND_LATIN1 = /[^\0-\xff]/
const JWT_START = Buffer.from(JSON_OBJECT)

/** RFC 9113, section 8.2.2. */
const CONNECTION_SPECIFIC = ['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade']

/** By byte: itself, letters in lower case. */
const LOWER = Uint8Array.from({ length: 256 }, (_, byte) =>
  byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte,
)

interface KnownName {
  readonly bytes: Uint8Array
  /** In the static table; 0: it is not there. */
  readonly index: number
  readonly kind: number
  readonly isDropped: boolean
}

/** By the hash of the name. */
const KNOWN: ReadonlyMap<number, KnownName> = new Map(
  [...STATIC_NAMES, ...CONNECTION_SPECIFIC, ...CREDENTIALS].map((name) => [hashOf(name), known(name)]),
)

function known(name: string): KnownName {
  return {
    bytes: Buffer.from(name),
    index: staticIndex(name),
    kind: CREDENTIALS.includes(name) ? NEVER_INDEXED : LITERAL,
    isDropped: CONNECTION_SPECIFIC.includes(name),
  }
}

let scratch = Buffer.allocUnsafeSlow(4096)

/** Throws a RangeError if a character is not latin1. @param lines writable lines, with one space before the value */
export function encodeLines(writer: BlockWriter, lines: string): void {
  const { length } = lines
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
  }
}

/** @param at of the name, in lower case @param colon its end @param end of the value */
function encodeLine(
  writer: BlockWriter,
  bytes: Uint8Array,
  at: number,
  colon: number,
  end: number,
  hash: number,
): void {
  const found = KNOWN.get(hash)
  const name = found !== undefined && isAt(found.bytes, bytes, at, colon) ? found : null
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
