/** Several field lines as one piece of a head that is to be written; `field-line.ts` has a single one, as it was read. */

import { areWritable } from './fields.ts'

export class FieldLines {
  static readonly none: FieldLines = new FieldLines([])
  /** Name, value, … in their order. */
  readonly fields: readonly string[]
  #text: string | null = null
  #writable: boolean | null = null

  constructor(fields: readonly string[]) {
    this.fields = fields
  }

  /** Each with its CRLF, whatever is in them: who writes a head asks first whether they are `writable`. */
  get text(): string {
    if (this.#text !== null) return this.#text
    let text = ''
    for (let i = 0; i < this.fields.length; i += 2) text += `${this.fields[i]}: ${this.fields[i + 1]}\r\n`
    this.#text = text
    return text
  }

  /** Looked at once. */
  get writable(): boolean {
    this.#writable ??= areWritable(this.text, this.fields.length / 2)
    return this.#writable
  }

  /** For who writes them again and again: the text is one piece, where one put together by `+` is a tree of its parts. */
  prepared(): this {
    const parts: string[] = []
    for (let i = 0; i < this.fields.length; i += 2)
      parts.push(this.fields[i] ?? '', ': ', this.fields[i + 1] ?? '', '\r\n')
    this.#text = parts.join('')
    return this
  }
}
