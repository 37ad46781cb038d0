/**
 * Answers (RFC 9112, sections 4, 5 and 6), as the reader of messages is to read them: the text of a head in, status,
 * fields and framing out. What could be read in two ways is refused, not repaired. Used by `connection.ts`.
 */

import type { FieldLine } from '../../http1/field-line.ts'
import { is, joined, keepsBy, lengthOf, readLines } from '../../http1/fields.ts'
import { CHUNKED, type Grammar, hasBare, INTERIM, UNTIL_CLOSE } from '../../http1/message-reader.ts'
import { ProtocolError } from '../hop.ts'

export interface Head {
  readonly status: number
  readonly phrase: string
  readonly lines: readonly FieldLine[]
  /** The same, where they are worth to be kept for the next head. */
  readonly section: readonly FieldLine[] | undefined
  /** Bytes of the body; or as the reader of messages has it. */
  readonly length: number
  /** The connection may carry another request. */
  readonly keeps: boolean
  /** Seconds that the upstream says it keeps an idle connection; 0: it doesn't say. */
  readonly keptFor: number
}

/** Bytes of a header section, and of the trailers. */
export const MAX_HEAD: number = 64 * 1024

/** Lines of a head that are kept for the next one on the connection. */
const MOST_LINES = 64

/** The phrase may hold anything but line ends: it is for people, and never passed on as it came where it is odd. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: ([^\r\n]*))?$/

export const answers: Grammar<Head> = {
  readHead,
  faultIn,
  emptyLines: false,
  forbiddenTrailers: ['content-length'],
  mostText: 16 * 1024,
  sharedBuffer: true,
  malformed: (what) => new ProtocolError(what),
  tooLong: (what) => new ProtocolError(`the ${what} is longer than anybody needs`),
}

function faultIn(text: string, before: number): Error | null {
  if (hasBare(text, before)) return new ProtocolError('a bare CR or LF')
  return 'HTTP/1.'.startsWith(text.slice(0, 7)) ? null : new ProtocolError('not a status line of HTTP/1')
}

/**
 * @param text from the status line to the end of the last field line, its CRLF included
 * @param bodiless the request was HEAD: no answer to it has a body
 */
function readHead(text: string, bodiless: boolean, last?: readonly FieldLine[]): Head {
  const end = text.indexOf('\r\n')
  const line = STATUS_LINE.exec(text.slice(0, end))
  if (line === null) throw new ProtocolError('not a status line of HTTP/1')
  const lines = readLines(text, end + 2, last)
  if (lines === null) throw new ProtocolError('not a field line')
  const status = Number(line[2])
  return frame(status, line[3] ?? '', line[1] === '1' ? 1 : 0, lines, bodiless)
}

function frame(
  status: number,
  phrase: string,
  minor: 0 | 1,
  lines: readonly FieldLine[],
  bodiless: boolean,
): Head {
  let length = UNTIL_CLOSE
  let chunked = false
  let connection: string | null = null
  let keptFor = 0
  for (const { name, value } of lines) {
    // Only these lengths can be a name looked for; the others are passed over without a copy.
    switch (name.length) {
      case 10:
        if (is(name, 'connection')) connection = joined(connection, value)
        else if (is(name, 'keep-alive')) keptFor = Number(/timeout=(\d{1,6})/i.exec(value)?.[1] ?? 0)
        break
      case 14:
        if (!is(name, 'content-length')) break
        if (length !== UNTIL_CLOSE) throw new ProtocolError('not one Content-Length')
        length = lengthOf(value) ?? Infinity
        if (length === Infinity) throw new ProtocolError('not a Content-Length')
        break
      case 17:
        if (!is(name, 'transfer-encoding')) break
        if (chunked || !is(value, 'chunked')) throw new ProtocolError('not one Transfer-Encoding: chunked')
        chunked = true
        break
    }
  }
  const section = lines.length > MOST_LINES ? undefined : lines
  let keeps = keepsBy(connection, minor)
  if (chunked && minor === 0) throw new ProtocolError('HTTP/1.0 has no Transfer-Encoding')
  if (chunked && length !== UNTIL_CLOSE) throw new ProtocolError('a Content-Length and a Transfer-Encoding')
  // An interim answer is followed by another one; a switch of protocols by no HTTP at all.
  if (status < 200)
    return { status, phrase, lines, section, length: status === 101 ? UNTIL_CLOSE : INTERIM, keeps, keptFor }
  if (hasNoBody(status, bodiless)) {
    // Some send one all the same. Whether it comes now or later: nobody may take it for the next answer.
    if (status === 204 && (chunked || length > 0)) keeps = false
    return { status, phrase, lines, section, length: 0, keeps, keptFor }
  }
  if (chunked) length = CHUNKED
  return { status, phrase, lines, section, length, keeps: keeps && length !== UNTIL_CLOSE, keptFor }
}

/** RFC 9112, section 6.3. */
function hasNoBody(status: number, bodiless: boolean): boolean {
  return bodiless || status === 204 || status === 304
}
