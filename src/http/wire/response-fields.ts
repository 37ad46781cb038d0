/** The field lines of an answer, and what of them says how it is framed. Made by whoever answers. */

import type { FieldLine } from './field-line.ts'
import { areWritable, equalsIgnoreCase } from './fields.ts'

export class ResponseFields {
  /** Each with its CRLF, whatever is in them: who writes a head asks first whether they are `writable`. */
  readonly text: string
  /** The last value of Content-Length and of Connection; null without one. */
  readonly length: string | null
  readonly connection: string | null
  /** There is a Date. */
  readonly hasDate: boolean
  readonly #count: number
  #writable: boolean | null = null

  constructor(lines: readonly FieldLine[]) {
    let text = ''
    let length: string | null = null
    let connection: string | null = null
    let dated = false
    for (const line of lines) {
      const { name, value } = line
      text += line.text
      if (name.length === 14 && equalsIgnoreCase(name, 'content-length')) length = value
      else if (name.length === 10 && equalsIgnoreCase(name, 'connection')) connection = value
      else if (name.length === 4 && equalsIgnoreCase(name, 'date')) dated = true
    }
    this.text = text
    this.length = length
    this.connection = connection
    this.hasDate = dated
    this.#count = lines.length
  }

  /** Looked at once. */
  get writable(): boolean {
    this.#writable ??= areWritable(this.text, this.#count)
    return this.#writable
  }
}
