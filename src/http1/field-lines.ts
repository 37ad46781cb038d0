/** Field lines of a head that is to be written. */

export class FieldLines {
  static readonly none: FieldLines = new FieldLines([])
  /** Name, value, … in their order. */
  readonly fields: readonly string[]
  #text: string | null = null

  constructor(fields: readonly string[]) {
    this.fields = fields
  }

  get count(): number {
    return this.fields.length / 2
  }

  /** Each with its CRLF, whatever is in them: who writes a head looks at all of it (`headCheck`). */
  get text(): string {
    this.#text ??= textOf(this.fields)
    return this.#text
  }

  /** Its text is put together now, for who writes it again and again. */
  prepared(): this {
    // V8 joins the parts of a text when a character of it is asked for; else it would do so each time.
    this.text.charCodeAt(0)
    return this
  }
}

function textOf(fields: readonly string[]): string {
  let text = ''
  for (let i = 0; i < fields.length; i += 2) text += `${fields[i]}: ${fields[i + 1]}\r\n`
  return text
}
