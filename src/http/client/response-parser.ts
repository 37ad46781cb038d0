/**
 * Answers (RFC 9112, sections 4, 5 and 6), as the reader of messages is to read them: the text of a head in, status,
 * fields and framing out. What could be read in two ways is refused, not repaired.
 */

import type { FieldLine } from '../wire/field-line.ts'
import {
  equalsIgnoreCase,
  joinValues,
  isPersistent,
  parseContentLength,
  parseFieldLines,
  isLongList,
  MAX_LIST_ELEMENTS,
} from '../wire/fields.ts'
import { CHUNKED, type Grammar, hasBareCrLf, INTERIM, UNTIL_CLOSE } from '../wire/message-parser.ts'
import { type ResponseHead, ProtocolError } from './upstream-request.ts'

export interface ParsedResponseHead extends ResponseHead {
  /** Bytes of the body; or as the reader of messages has it. */
  readonly length: number
  /** The connection may carry another request. */
  readonly keepAlive: boolean
  /** Seconds that the upstream says it keeps an idle connection; 0: it doesn't say. */
  readonly keepAliveSeconds: number
}

/** Bytes of a header section, and of the trailers. */
export const MAX_HEAD_BYTES: number = 64 * 1024

/** The phrase may hold anything but line ends: it is for people, and never passed on as it came where it is odd. */
const STATUS_LINE = /^HTTP\/1\.([01]) ([1-9][0-9]{2})(?: ([^\r\n]*))?$/

export const responseGrammar: Grammar<ParsedResponseHead> = {
  readHead,
  checkPrefix,
  skipsEmptyLines: false,
  forbiddenTrailers: ['content-length'],
  maxTextBody: 16 * 1024,
  sharedBuffer: true,
  malformed: (what) => new ProtocolError(what),
  tooLong: (what) => new ProtocolError(`the ${what} is too long`),
}

function checkPrefix(text: string, before: number): Error | null {
  if (hasBareCrLf(text, before)) return new ProtocolError('a bare CR or LF')
  return 'HTTP/1.'.startsWith(text.slice(0, 7)) ? null : new ProtocolError('the status line is malformed')
}

function readHead(text: string, bodiless: boolean): ParsedResponseHead {
  const end = text.indexOf('\r\n')
  const line = STATUS_LINE.exec(text.slice(0, end))
  if (line === null) throw new ProtocolError('the status line is malformed')
  const lines = parseFieldLines(text, end + 2)
  if (lines === null) throw new ProtocolError('a header field is malformed')
  const status = Number(line[2])
  const framing = framingOf(status, line[1] === '1' ? 1 : 0, lines, bodiless)
  return { status, phrase: line[3] ?? '', lines, ...framing }
}

function framingOf(
  status: number,
  minor: 0 | 1,
  lines: readonly FieldLine[],
  bodiless: boolean,
): Pick<ParsedResponseHead, 'length' | 'keepAlive' | 'keepAliveSeconds'> {
  let length = UNTIL_CLOSE
  let chunked = false
  let connection: string | null = null
  let keepAliveSeconds = 0
  for (const { name, value } of lines) {
    // Only these lengths can be a name looked for; the others are passed over without a copy.
    switch (name.length) {
      case 10:
        if (equalsIgnoreCase(name, 'connection')) connection = joinValues(connection, value)
        else if (equalsIgnoreCase(name, 'keep-alive'))
          keepAliveSeconds = Number(/timeout=(\d{1,6})/i.exec(value)?.[1] ?? 0)
        break
      case 14:
        if (!equalsIgnoreCase(name, 'content-length')) break
        if (length !== UNTIL_CLOSE) throw new ProtocolError('more than one Content-Length')
        length = parseContentLength(value) ?? Infinity
        if (length === Infinity) throw new ProtocolError('the Content-Length is malformed')
        break
      case 17:
        if (!equalsIgnoreCase(name, 'transfer-encoding')) break
        if (chunked || !equalsIgnoreCase(value, 'chunked'))
          throw new ProtocolError('a Transfer-Encoding other than a single "chunked"')
        chunked = true
        break
    }
  }
  if (connection !== null && isLongList(connection))
    throw new ProtocolError(`more than ${MAX_LIST_ELEMENTS} elements in Connection`)
  let keepAlive = isPersistent(connection, minor)
  if (chunked && minor === 0) throw new ProtocolError('HTTP/1.0 has no Transfer-Encoding')
  if (chunked && length !== UNTIL_CLOSE)
    throw new ProtocolError('both a Content-Length and a Transfer-Encoding')
  // An interim answer is followed by another one; a switch of protocols by no HTTP at all.
  if (status < 200) return { length: status === 101 ? UNTIL_CLOSE : INTERIM, keepAlive, keepAliveSeconds }
  if (hasNoBody(status, bodiless)) {
    // Some send one all the same. Whether it comes now or later: nobody may take it for the next answer.
    if (status === 204 && (chunked || length > 0)) keepAlive = false
    return { length: 0, keepAlive, keepAliveSeconds }
  }
  if (chunked) length = CHUNKED
  return { length, keepAlive: keepAlive && length !== UNTIL_CLOSE, keepAliveSeconds }
}

/** RFC 9112, section 6.3. */
function hasNoBody(status: number, bodiless: boolean): boolean {
  return bodiless || status === 204 || status === 304
}
