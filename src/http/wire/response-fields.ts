/** The field lines of a response, and their framing fields. */

import { FieldLines } from './field-lines.ts'
import { equalsIgnoreCase } from './fields.ts'

/** The fields that the writer of the head needs to know. */
type FramingFields = Pick<ResponseFields, 'length' | 'connection' | 'hasDate'>

export class ResponseFields extends FieldLines {
  /** The last value of Content-Length and of Connection; null if absent. */
  readonly length: string | null
  readonly connection: string | null
  /** The lines include Date. */
  readonly hasDate: boolean

  /** @param count the number of lines; null if they are validated */
  constructor(text: string, { length, connection, hasDate }: FramingFields, count: number | null) {
    super(text, count)
    this.length = length
    this.connection = connection
    this.hasDate = hasDate
  }

  /** @param pairs name, value, … */
  static override of(pairs: readonly string[]): ResponseFields {
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
}
