/** Field lines as one serialized piece of a head. */

import { areWritable } from './fields.ts'

export class FieldLines {
  static readonly none: FieldLines = new FieldLines('', null)
  /** The lines, each with its CRLF. They may hold invalid bytes: the writer of the head checks `writable`. */
  readonly text: string
  readonly #count: number
  #writable: boolean | null

  /** @param count the number of lines; null if they are validated */
  constructor(text: string, count: number | null) {
    this.text = text
    this.#count = count ?? 0
    this.#writable = count === null ? true : null
  }

  /** @param pairs name, value, … */
  static of(pairs: readonly string[]): FieldLines {
    let text = ''
    for (let i = 0; i < pairs.length; i += 2) text += `${pairs[i]}: ${pairs[i + 1]}\r\n`
    return new FieldLines(text, pairs.length / 2)
  }

  /** Checked once, then cached. */
  get writable(): boolean {
    this.#writable ??= areWritable(this.text, this.#count)
    return this.#writable
  }

  /** Name, value, … of writable lines. */
  get pairs(): string[] {
    const pairs: string[] = []
    for (let at = 0; at < this.text.length;) {
      const colon = this.text.indexOf(': ', at)
      const end = this.text.indexOf('\r\n', colon)
      pairs.push(this.text.slice(at, colon), this.text.slice(colon + 2, end))
      at = end + 2
    }
    return pairs
  }
}
