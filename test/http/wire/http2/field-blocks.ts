/** Field blocks for tests: decoded lists, and an independent writer with all representations of RFC 7541. */

import { HUFFMAN_CODES } from '../../../../src/http/wire/http2/huffman-decoder.ts'
import type { HpackDecoder } from '../../../../src/http/wire/http2/hpack-decoder.ts'

export const WIDE = { maxBytes: 1 << 20, maxFields: 10_000 }

export function hex(text: string): Buffer {
  return Buffer.from(text.replaceAll(/\s/g, ''), 'hex')
}

/** The fields passed on: name, value, … */
export function decoded(decoder: HpackDecoder, block: Buffer, limits = WIDE): string[] {
  const fields: string[] = []
  decoder.decode(block, limits, (name, value) => fields.push(name, value))
  return fields
}

/** @param flags the bits before the prefix */
export function integer(flags: number, prefixBits: number, value: number): Buffer {
  const mask = 2 ** prefixBits - 1
  if (value < mask) return Buffer.of(flags | value)
  const bytes = [flags | mask]
  let rest = value - mask
  for (; rest >= 128; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 0x80)
  return Buffer.from([...bytes, rest])
}

const BITS = new Map(
  HUFFMAN_CODES.map(({ symbol, length, bits }) => [symbol, bits.toString(2).padStart(length, '0')]),
)

export function bitsOf(text: string): string {
  return Array.from(text, (character) => BITS.get(character.charCodeAt(0)) ?? '').join('')
}

/** @param bits a string of 0 and 1; padded with ones */
export function bytesOf(bits: string): Buffer {
  const padded = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1')
  return Buffer.from((padded.match(/.{8}/g) ?? []).map((byte) => parseInt(byte, 2)))
}

export function plain(text: string): Buffer {
  return Buffer.concat([integer(0, 7, text.length), Buffer.from(text, 'latin1')])
}

export function huffman(text: string): Buffer {
  return huffmanString(bytesOf(bitsOf(text)))
}

export function huffmanString(bytes: Buffer): Buffer {
  return Buffer.concat([integer(0x80, 7, bytes.length), bytes])
}

export const indexed = (index: number): Buffer => integer(0x80, 7, index)
export const sizeUpdate = (size: number): Buffer => integer(0x20, 5, size)

/** A literal of a new name. @param string {@link plain} or {@link huffman} */
export function literal(flags: 0x00 | 0x10 | 0x40, name: string, value: string, string = plain): Buffer {
  return Buffer.concat([Buffer.of(flags), string(name), string(value)])
}
