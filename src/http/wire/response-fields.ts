/** The field lines of a response, and their framing fields. */

import { areWritable, equalsIgnoreCase } from './fields.ts'

/** The fields that the writer of the head needs to know. */
export interface FramingFields {
  /** The last value of Content-Length and of Connection; null if absent. */
  readonly length: string | null
  readonly connection: string | null
  /** The lines include Date. */
  readonly hasDate: boolean
}

export class ResponseFields implements FramingFields {
  /** Each line with its CRLF. The text may hold invalid bytes: the writer of the head checks `writable` first. */
  readonly text: string
  readonly length: string | null
  readonly connection: string | null
  readonly hasDate: boolean
  readonly #count: number
  #writable: boolean | null

  /** @param count the number of lines; null if they are validated */
  constructor(text: string, { length, connection, hasDate }: FramingFields, count: number | null) {
    this.text = text
    this.length = length
    this.connection = connection
    this.hasDate = hasDate
    this.#count = count ?? 0
    this.#writable = count === null ? true : null
  }

  /** @param pairs name, value, … */
  static of(pairs: readonly string[]): ResponseFields {
    let text = ''
    let length: string | null = null
    let connection: string | null = null
    let hasDate = false
    for (let i = 0; i < pairs.length; i += 2) {
      const name = pairs[i] ?? ''
      const value = pairs[i + 1] ?? ''
      text += `${name}: ${value}\r\n`
      if (name.length === 14 && equalsIgnoreCase(name, 'content-length')) length = value
      else if (name.length === 10 && equalsIgnoreCase(name, 'connection')) connection = value
      else if (name.length === 4 && equalsIgnoreCase(name, 'date')) hasDate = true
    }
    return new ResponseFields(text, { length, connection, hasDate }, pairs.length / 2)
  }

  /** Checked once, then cached. */
  get writable(): boolean {
    this.#writable ??= areWritable(this.text, this.#count)
    return this.#writable
  }
}
