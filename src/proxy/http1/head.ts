/**
 * The head of an answer (RFC 9112, sections 4, 5 and 6): text in, status, fields and framing out. What could be read in
 * two ways is refused, not repaired. Used by `answer-reader.ts`.
 */

import { ProtocolError } from '../hop.ts'

export interface Head {
  readonly status: number
  readonly phrase: string
  /** Name, value, … in their order; values without the blanks around them. */
  readonly fields: string[]
  /** Bytes of the body; {@link CHUNKED}, {@link UNTIL_CLOSE}. */
  readonly length: number
  /** The connection may carry another request. */
  readonly keeps: boolean
  /** Seconds that the upstream says it keeps an idle connection; 0: it doesn't say. */
  readonly keptFor: number
}

export const CHUNKED: number = -1
export const UNTIL_CLOSE: number = -2

/** The phrase may hold anything but line ends: it is for people, and never passed on as it came where it is odd. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: ([^\r\n]*))?$/
/** Lines without their folding; token, colon, then visible characters and blanks (RFC 9110, section 5.5). */
const FIELD_LINES = /^(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*$/
const LENGTH = /^[0-9]{1,15}$/

const SPACE = 0x20
const TAB = 0x09

/**
 * @param text from the status line to the end of the last field line, its CRLF included
 * @param bodiless the request was HEAD: no answer to it has a body
 */
export function readHead(text: string, bodiless: boolean): Head {
  const end = text.indexOf('\r\n')
  const line = STATUS_LINE.exec(text.slice(0, end))
  if (line === null) throw new ProtocolError('not a status line of HTTP/1')
  const fields = readFields(text, end + 2)
  const status = Number(line[2])
  return frame(status, line[3] ?? '', line[1] === '1', fields, bodiless)
}

/** Name, value, … of field lines from `start` on, each with its CRLF. */
export function readFields(text: string, start: number): string[] {
  if (!FIELD_LINES.test(text.slice(start))) throw new ProtocolError('not a field line')
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    fields.push(text.slice(at, colon), trimmed(text, colon + 1, end))
    at = end + 2
  }
  return fields
}

function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

function frame(status: number, phrase: string, http11: boolean, fields: string[], bodiless: boolean): Head {
  let length = UNTIL_CLOSE
  let chunked = false
  let keeps = http11
  let keptFor = 0
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    // Only these lengths can be a name looked for; the others are passed over without a copy.
    switch (name.length) {
      case 10:
        if (is(name, 'connection')) keeps = keepsBy(fields[i + 1] ?? '', keeps)
        else if (is(name, 'keep-alive'))
          keptFor = Number(/timeout=(\d{1,6})/i.exec(fields[i + 1] ?? '')?.[1] ?? 0)
        break
      case 14:
        if (!is(name, 'content-length')) break
        if (length !== UNTIL_CLOSE || !LENGTH.test(fields[i + 1] ?? ''))
          throw new ProtocolError('not one Content-Length')
        length = Number(fields[i + 1])
        break
      case 17:
        if (!is(name, 'transfer-encoding')) break
        if (chunked || !is(fields[i + 1] ?? '', 'chunked'))
          throw new ProtocolError('not one Transfer-Encoding: chunked')
        chunked = true
        break
    }
  }
  if (chunked && !http11) throw new ProtocolError('HTTP/1.0 has no Transfer-Encoding')
  if (chunked && length !== UNTIL_CLOSE) throw new ProtocolError('a Content-Length and a Transfer-Encoding')
  if (hasNoBody(status, bodiless)) {
    // Some send one all the same. Whether it comes now or later: nobody may take it for the next answer.
    if (status === 204 && (chunked || length > 0)) keeps = false
    return { status, phrase, fields, length: 0, keeps, keptFor }
  }
  if (chunked) length = CHUNKED
  return { status, phrase, fields, length, keeps: keeps && length !== UNTIL_CLOSE, keptFor }
}

/** RFC 9112, section 6.3. */
function hasNoBody(status: number, bodiless: boolean): boolean {
  return bodiless || status < 200 || status === 204 || status === 304
}

function is(name: string, wanted: string): boolean {
  return name.length === wanted.length && name.toLowerCase() === wanted
}

/** RFC 9112, section 9.3. */
function keepsBy(value: string, keeps: boolean): boolean {
  const options = value.toLowerCase().split(',')
  if (options.some((option) => option.trim() === 'close')) return false
  return keeps || options.some((option) => option.trim() === 'keep-alive')
}
