/** One field line of a head (RFC 9112, section 5). Never changes. */

import { detachedText } from '../../lib/heap-size.ts'

export class FieldLine {
  readonly name: string
  /** Without the blanks around it. */
  readonly value: string
  /** As it came, its CRLF included. */
  readonly raw: string
  /** As it is written, its CRLF included, whatever is in it: who writes a head looks at all of it (`areWritable`). */
  readonly text: string
  /** Its texts are no parts of a longer one, which would be kept as long as they are. */
  readonly detached: boolean
  #detachedLine: FieldLine | null = null

  /** @param raw left out for one that is ours to write */
  constructor(name: string, value: string, raw: string | null = null, own = false) {
    this.name = name
    this.value = value
    this.text = raw !== null && isCanonical(raw, name, value) ? raw : `${name}: ${value}\r\n`
    this.raw = raw ?? this.text
    this.detached = own
  }

  /** The same line, to be kept for long. */
  detach(): FieldLine {
    if (this.detached) return this
    this.#detachedLine ??= new FieldLine(
      detachedText(this.name),
      detachedText(this.value),
      detachedText(this.raw),
      true,
    )
    return this.#detachedLine
  }
}

/** @param fields name, value, … in their order */
export function fieldLines(fields: readonly string[]): FieldLine[] {
  const lines: FieldLine[] = []
  for (let i = 0; i < fields.length; i += 2) lines.push(new FieldLine(fields[i] ?? '', fields[i + 1] ?? ''))
  return lines
}

/** Between name and value there is nothing but a colon and a space, and behind the value nothing but the CRLF. */
function isCanonical(raw: string, name: string, value: string): boolean {
  return raw.length === name.length + value.length + 4 && raw[name.length + 1] === ' '
}
