/** Several field lines as one serialized piece of a head. `field-line.ts` has single lines as parsed. */

import { areWritable } from './fields.ts'

export class FieldLines {
  static readonly none: FieldLines = new FieldLines([])
  /** Name, value, … in order. */
  readonly fields: readonly string[]
  #text: string | null = null
  #writable: boolean | null = null

  constructor(fields: readonly string[]) {
    this.fields = fields
  }

  /** Each line with its CRLF. The text may hold invalid bytes: the writer of the head checks `writable` first. */
  get text(): string {
    if (this.#text !== null) return this.#text
    let text = ''
    for (let i = 0; i < this.fields.length; i += 2) text += `${this.fields[i]}: ${this.fields[i + 1]}\r\n`
    this.#text = text
    return text
  }

  /** Checked once, then cached. */
  get writable(): boolean {
    this.#writable ??= areWritable(this.text, this.fields.length / 2)
    return this.#writable
  }
}
