/** One field line of a header section (RFC 9112, section 5). Immutable. */

export class FieldLine {
  readonly name: string
  /** Without optional whitespace around it. */
  readonly value: string
  /**
   * The serialized line, CRLF included. It may hold invalid bytes: the writer of the head checks it with `areWritable`.
   */
  readonly text: string

  /** @param raw the received bytes as latin1, CRLF included; null for a line that the gateway itself creates */
  constructor(name: string, value: string, raw: string | null = null) {
    this.name = name
    this.value = value
    this.text = raw !== null && isCanonical(raw, name, value) ? raw : `${name}: ${value}\r\n`
  }
}

/** @param fields name, value, … in order */
export function fieldLines(fields: readonly string[]): FieldLine[] {
  const lines: FieldLine[] = []
  for (let i = 0; i < fields.length; i += 2) lines.push(new FieldLine(fields[i] ?? '', fields[i + 1] ?? ''))
  return lines
}

/** Whether the raw line is `name: value` with exactly one space and no trailing whitespace. */
function isCanonical(raw: string, name: string, value: string): boolean {
  return raw.length === name.length + value.length + 4 && raw[name.length + 1] === ' '
}
