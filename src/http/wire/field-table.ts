/**
 * The fields of a header section (RFC 9112, section 5) as positions in its text: a field becomes a string
 * only when it is needed. One pass over the bytes validates the lines and hashes the names. An ambiguous line
 * is refused, not repaired.
 */

import { addToHash } from '../../lib/text-hash.ts'
import { type FieldName, foldByte, foldCharacter, isValueByte, ODD } from './field-name.ts'

/** A head in the text of a read. The byte of text position `p` is `bytes[p + offset]`. */
export interface HeadText {
  readonly text: string
  readonly bytes: Uint8Array
  readonly offset: number
  /** The positions of the first character, and after the CRLF of the last line. */
  readonly start: number
  readonly end: number
}

/** Numbers of a field: start and end of the name, start and end of the value, hash of the name, ODD or 0. */
const STRIDE = 6

const COLON = 0x3a
const HYPHEN = 0x2d
const SPACE = 0x20
const TAB = 0x09
const CR = 0x0d
const LF = 0x0a

export class FieldTable {
  readonly #text: string
  readonly #numbers: readonly number[]
  readonly #end: number
  /** A bit for each hash, by its last five bits: most names that are looked for are not there. */
  readonly #hashes: number
  readonly count: number
  #pairs: readonly string[] | null = null

  private constructor(text: string, numbers: readonly number[], end: number, hashes: number) {
    this.#text = text
    this.#numbers = numbers
    this.#end = end
    this.#hashes = hashes
    this.count = numbers.length / STRIDE
  }

  /**
   * @param from the position of the first field line
   * @returns null if a line is malformed
   */
  static parse({ text, bytes, offset, end }: HeadText, from: number): FieldTable | null {
    const to = end + offset
    let hashes = 0
    const numbers: number[] = []
    for (let at = from + offset; at < to;) {
      const nameStart = at
      let hash = 0
      let odd = 0
      for (let code = foldByte(bytes, at); code !== 0; code = foldByte(bytes, ++at)) {
        hash = addToHash(hash, code & ~ODD)
        odd |= code
      }
      if (at === nameStart || bytes[at] !== COLON) return null
      const nameEnd = at++
      while (bytes[at] === SPACE || bytes[at] === TAB) at++
      const valueStart = at
      for (let byte = bytes[at] ?? 0; isValueByte(byte); byte = bytes[++at] ?? 0);
      if (bytes[at] !== CR || bytes[at + 1] !== LF || at + 1 >= to) return null
      let valueEnd = at
      while (valueEnd > valueStart && (bytes[valueEnd - 1] === SPACE || bytes[valueEnd - 1] === TAB))
        valueEnd--
      numbers.push(
        nameStart - offset,
        nameEnd - offset,
        valueStart - offset,
        valueEnd - offset,
        hash,
        odd & ODD,
      )
      hashes |= 1 << hash
      at += 2
    }
    return new FieldTable(text, numbers, end, hashes)
  }

  /**
   * @param pairs name, value, …
   * @returns null if one of them is malformed
   */
  static of(pairs: readonly string[]): FieldTable | null {
    let text = ''
    for (let i = 0; i < pairs.length; i += 2) text += `${pairs[i]}: ${pairs[i + 1]}\r\n`
    const bytes = Buffer.from(text, 'latin1')
    // A character beyond latin1 would become another byte.
    if (bytes.toString('latin1') !== text) return null
    const table = FieldTable.parse({ text, bytes, offset: 0, start: 0, end: text.length }, 0)
    return table?.count === pairs.length / 2 ? table : null
  }

  /** Bytes of all lines. */
  get bytes(): number {
    return this.#end - (this.#numbers[0] ?? this.#end)
  }

  name(i: number): string {
    return this.#text.slice(this.#numbers[i * STRIDE], this.#numbers[i * STRIDE + 1])
  }

  /** Without optional whitespace around it. */
  value(i: number): string {
    return this.#text.slice(this.#numbers[i * STRIDE + 2], this.#numbers[i * STRIDE + 3])
  }

  /** The hash of the folded name: see `field-name.ts`. */
  hash(i: number): number {
    return this.#numbers[i * STRIDE + 4] ?? 0
  }

  nameLength(i: number): number {
    return (this.#numbers[i * STRIDE + 1] ?? 0) - (this.#numbers[i * STRIDE] ?? 0)
  }

  /** The name has a character other than letters, digits and `-`. */
  isOdd(i: number): boolean {
    return this.#numbers[i * STRIDE + 5] !== 0
  }

  /** Whether the folded name equals it. */
  isSpelling(i: number, { codes, hash }: FieldName): boolean {
    if (this.hash(i) !== hash || this.nameLength(i) !== codes.length) return false
    const text = this.#text
    const start = this.#numbers[i * STRIDE] ?? 0
    for (let at = 0; at < codes.length; at++)
      if (!isFoldOf(text.charCodeAt(start + at), codes[at])) return false
    return true
  }

  /** Whether the folded name equals the prefix, or begins with it and `-`. */
  hasPrefix(i: number, prefix: string): boolean {
    const length = this.nameLength(i)
    if (length < prefix.length) return false
    const start = this.#numbers[i * STRIDE] ?? 0
    for (let at = 0; at < prefix.length; at++)
      if (foldCharacter(this.#text.charCodeAt(start + at)) !== prefix.charCodeAt(at)) return false
    return length === prefix.length || foldCharacter(this.#text.charCodeAt(start + prefix.length)) === HYPHEN
  }

  /** Whether the name equals it but for case. */
  is(i: number, name: FieldName): boolean {
    return !this.isOdd(i) && this.isSpelling(i, name)
  }

  /** The values of all lines of a name, in order. */
  values(name: FieldName): readonly string[] {
    if ((this.#hashes & (1 << name.hash)) === 0) return NO_VALUES
    let values: string[] | null = null
    for (let i = 0; i < this.count; i++) {
      if (this.hash(i) !== name.hash || !this.is(i, name)) continue
      if (values === null) values = [this.value(i)]
      else values.push(this.value(i))
    }
    return values ?? NO_VALUES
  }

  /** Name, value, … in order. */
  get pairs(): readonly string[] {
    if (this.#pairs !== null) return this.#pairs
    const pairs: string[] = []
    for (let i = 0; i < this.count; i++) pairs.push(this.name(i), this.value(i))
    this.#pairs = pairs
    return pairs
  }

  /**
   * The serialized lines of consecutive fields, as received where that is canonical: one space before the
   * value and no whitespace after it.
   *
   * @param from the first field
   * @param to the field after the last one
   */
  lines(from: number, to: number): string {
    let text = ''
    let start = from
    for (let i = from; i < to; i++) {
      if (this.#isCanonical(i)) continue
      text += `${this.#receivedLines(start, i)}${this.name(i)}: ${this.value(i)}\r\n`
      start = i + 1
    }
    return text === '' ? this.#receivedLines(start, to) : text + this.#receivedLines(start, to)
  }

  /** The line as received, with its CRLF. */
  received(i: number): string {
    return this.#receivedLines(i, i + 1)
  }

  #receivedLines(from: number, to: number): string {
    return this.#text.slice(this.#lineStart(from), this.#lineStart(to))
  }

  #lineStart(i: number): number {
    return i < this.count ? (this.#numbers[i * STRIDE] ?? 0) : this.#end
  }

  #isCanonical(i: number): boolean {
    const at = i * STRIDE
    const [nameEnd, valueStart, valueEnd] = [
      this.#numbers[at + 1] ?? 0,
      this.#numbers[at + 2] ?? 0,
      this.#numbers[at + 3] ?? 0,
    ]
    return (
      valueStart === nameEnd + 2 &&
      this.#text.charCodeAt(nameEnd + 1) === SPACE &&
      this.#lineStart(i + 1) === valueEnd + 2
    )
  }
}

/** Most names are sent in lower case: comparing first takes two thirds of the time. */
function isFoldOf(code: number, folded: number | undefined): boolean {
  return code === folded || foldCharacter(code) === folded
}

const NO_VALUES: readonly string[] = Object.freeze([])
