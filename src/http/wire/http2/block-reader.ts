/** Reads integers and strings of a field block (RFC 7541, section 5). */

import { timingSafeEqual } from 'node:crypto'
import { HpackError } from './http2-errors.ts'
import { decodeHuffman } from './huffman-decoder.ts'

/** The flag of a string in the Huffman code. */
const HUFFMAN = 0x80
const LENGTH_MASK = 0x7f

/** Bytes after the prefix of an integer, leading zeros included. No valid integer here needs 28 bits. */
const MAX_CONTINUATION = 4

/** Encoded bytes of a string that is kept decoded. Shorter ones decode as fast, longer ones take memory. */
const MIN_KEPT = 64
const MAX_KEPT = 2048

const EMPTY = Buffer.alloc(0)

export class BlockReader {
  #block: Buffer = EMPTY
  #at = 0
  /** The last long string with the Huffman code, and what it means. */
  #encoded: Buffer = EMPTY
  #decoded = ''

  begin(block: Buffer): void {
    this.#block = block
    this.#at = 0
  }

  /** The block is not held on to. */
  end(): void {
    this.#block = EMPTY
  }

  get done(): boolean {
    return this.#at >= this.#block.length
  }

  /** The next byte without reading it; 0 at the end. */
  get peek(): number {
    return this.#block[this.#at] ?? 0
  }

  /** The next byte. The block is not done. */
  byte(): number {
    return this.#block[this.#at++] ?? 0
  }

  /**
   * The rest of an integer.
   *
   * @param prefix the bits of its first byte
   * @param mask all bits of the prefix
   */
  integer(prefix: number, mask: number): number {
    return prefix < mask ? prefix : this.#continued(mask)
  }

  #continued(mask: number): number {
    let value = mask
    for (let i = 0; i < MAX_CONTINUATION; i++) {
      if (this.done) throw truncated()
      const byte = this.byte()
      value += (byte & 0x7f) << (7 * i)
      if (byte < 0x80) return value
    }
    throw new HpackError('An integer is too long.')
  }

  /**
   * @param maxBytes of the decoded string
   * @returns latin1; null if the string is longer, which is skipped
   */
  string(maxBytes: number): string | null {
    if (this.done) throw truncated()
    const first = this.byte()
    const length = this.integer(first & LENGTH_MASK, LENGTH_MASK)
    const from = this.#at
    if (length > this.#block.length - from) throw truncated()
    this.#at += length
    if (first >= HUFFMAN) return this.#huffman(from, maxBytes)
    return length > maxBytes ? null : this.#block.toString('latin1', from, this.#at)
  }

  /**
   * Clients send credentials in full with each request, so that no table contains them (RFC 7541, section
   * 7.1.3). Decoding is the most expensive part of such a block.
   */
  #huffman(from: number, maxBytes: number): string | null {
    const length = this.#at - from
    if (length < MIN_KEPT || length > MAX_KEPT) return decodeHuffman(this.#block, from, this.#at, maxBytes)
    const encoded = this.#block.subarray(from, this.#at)
    // In constant time: on a proxy's connection, the previous string may be another client's credential.
    if (length === this.#encoded.length && timingSafeEqual(encoded, this.#encoded))
      return this.#decoded.length > maxBytes ? null : this.#decoded
    const decoded = decodeHuffman(encoded, 0, length, maxBytes)
    if (decoded !== null) {
      this.#encoded = Buffer.from(encoded)
      this.#decoded = decoded
    }
    return decoded
  }
}

function truncated(): HpackError {
  return new HpackError('The block is truncated.')
}
