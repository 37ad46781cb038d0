/** Writes integers and strings of a field block (RFC 7541, section 5). Strings have no Huffman code. */

/** Bytes of a buffer that blocks are written into, one after the other. */
const SLAB = 32 * 1024
/** Bytes of an integer at most. */
const INTEGER = 6
/** Up to this many characters, a loop is faster than a call of native code. */
const SHORT = 24
const SHORT_BYTES = 64

let slab = Buffer.allocUnsafeSlow(SLAB)
/** Where the next block starts. */
let next = 0
/** Blocks that were begun. */
let blocks = 0

/** A block is written without a break: until `end`, no other writer begins. */
export class BlockWriter {
  #start = 0
  #at = 0
  /** The number of the block. */
  #block = 0

  /** Drops a block without an end. @param reserve free bytes before the block */
  begin(reserve: number): void {
    this.#block = ++blocks
    this.#start = next
    this.#at = next
    this.#ensure(reserve)
    this.#at += reserve
  }

  /** @param flags the bits of the first byte before the prefix @param mask all bits of the prefix */
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

const BEYOND_LATIN1 = /[^\0-\xff]/

export function notLatin1(): RangeError {
  return new RangeError('a field has a character that is not latin1')
}
