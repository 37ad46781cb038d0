/** Reads integers and strings of a field block (RFC 7541, section 5). */

import { HpackError } from './hpack-error.ts'
import { decodeHuffman } from './huffman-decoder.ts'

/** Of a string: it has the Huffman code. */
const HUFFMAN = 0x80
const LENGTH_MASK = 0x7f

/** Bytes after the prefix of an integer. Leading zeros count, and 28 bits are more than any valid integer here has. */
const MAX_CONTINUATION = 4

const EMPTY = Buffer.alloc(0)

export class BlockReader {
  #block: Buffer = EMPTY
  #at = 0

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

  /** The rest of an integer. @param prefix the bits of its first byte @param mask all bits of the prefix */
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

  /** @param maxBytes of the decoded string @returns latin1; null if the string is longer, which is skipped */
  string(maxBytes: number): string | null {
    if (this.done) throw truncated()
    const first = this.byte()
    const length = this.integer(first & LENGTH_MASK, LENGTH_MASK)
    const from = this.#at
    if (length > this.#block.length - from) throw truncated()
    this.#at += length
    if (first >= HUFFMAN) return decodeHuffman(this.#block, from, this.#at, maxBytes)
    return length > maxBytes ? null : this.#block.toString('latin1', from, this.#at)
  }
}

function truncated(): HpackError {
  return new HpackError('The block is truncated.')
}
