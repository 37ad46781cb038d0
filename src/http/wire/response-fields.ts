/** The field lines of a response, and their framing fields. */

import type { FieldLine } from './field-line.ts'
import { areWritable, equalsIgnoreCase } from './fields.ts'

export class ResponseFields {
  /** Each line with its CRLF. The text may hold invalid bytes: the writer of the head checks `writable` first. */
  readonly text: string
  /** The last value of Content-Length and of Connection; null if absent. */
  readonly length: string | null
  readonly connection: string | null
  /** The lines include Date. */
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

  /** Checked once, then cached. */
  get writable(): boolean {
    this.#writable ??= areWritable(this.text, this.#count)
    return this.#writable
  }
}
