/**
 * The grammar of responses (RFC 9112, sections 4, 5 and 6) for the message parser: the text of a head in;
 * status, fields and framing out. An ambiguous response is refused, not repaired:
 * `proxy/forward.ts` answers 502.
 */

import { fieldName } from '../wire/field-name.ts'
import { FieldTable, type HeadText } from '../wire/field-table.ts'
import {
  equalsIgnoreCase,
  joinValues,
  isPersistent,
  parseContentLength,
  isLongList,
  MAX_LIST_ELEMENTS,
} from '../wire/fields.ts'
import { hasBareCrLf } from '../wire/message-parser.ts'
import { CHUNKED, type Grammar, INTERIM, UNTIL_CLOSE } from '../wire/message-grammar.ts'
import { type ResponseHead, ProtocolError } from './upstream-request.ts'

export interface ParsedResponseHead extends ResponseHead {
  /** Bytes of the body, or one of the constants of the message parser. */
  readonly length: number
  /** The connection may carry another request. */
  readonly keepAlive: boolean
  /** The upstream's announced idle timeout in seconds; 0 for none. */
  readonly keepAliveSeconds: number
}

/** Bytes of a header section, and of the trailers. */
export const MAX_HEAD_BYTES: number = 64 * 1024

/** The phrase may hold any bytes but line ends: `reasonPhrase` checks it before it is forwarded. */
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

function readHead(head: HeadText, bodiless: boolean): ParsedResponseHead {
  const line = readStatusLine(head)
  const fields = FieldTable.parse(head, head.start + line.length)
  if (fields === null) throw new ProtocolError('a header field is malformed')
  const { status, phrase } = line
  const { length, keepAlive, keepAliveSeconds } = framingOf(status, line.minor, fields, bodiless)
  return { status, phrase, fields, length, keepAlive, keepAliveSeconds }
}

interface StatusLine {
  readonly status: number
  readonly minor: 0 | 1
  readonly phrase: string
  /** The length of the line with its CRLF. */
  readonly length: number
}

/** Most lines are this one: a comparison takes a tenth of what the expression takes. */
const OK_TEXT = 'HTTP/1.1 200 OK\r\n'
const OK: StatusLine = Object.freeze({ status: 200, minor: 1, phrase: 'OK', length: OK_TEXT.length })

function readStatusLine({ text, start }: HeadText): StatusLine {
  if (text.startsWith(OK_TEXT, start)) return OK
  const end = text.indexOf('\r\n', start)
  const [line, minor, status, phrase = ''] = STATUS_LINE.exec(text.slice(start, end)) ?? []
  if (line === undefined) throw new ProtocolError('the status line is malformed')
  return { status: Number(status), minor: minor === '1' ? 1 : 0, phrase, length: line.length + 2 }
}

const CONNECTION = fieldName('connection')
const KEEP_ALIVE = fieldName('keep-alive')
const CONTENT_LENGTH = fieldName('content-length')
const TRANSFER_ENCODING = fieldName('transfer-encoding')

function framingOf(
  status: number,
  minor: 0 | 1,
  fields: FieldTable,
  bodiless: boolean,
): Pick<ParsedResponseHead, 'length' | 'keepAlive' | 'keepAliveSeconds'> {
  let length = UNTIL_CLOSE
  let chunked = false
  let connection: string | null = null
  let keepAliveSeconds = 0
  for (let i = 0; i < fields.count; i++) {
    // Few fields have one of these hashes; `is` then compares the name.
    switch (fields.hash(i)) {
      case CONNECTION.hash:
        if (fields.is(i, CONNECTION)) connection = joinValues(connection, fields.value(i))
        break
      case KEEP_ALIVE.hash:
        if (fields.is(i, KEEP_ALIVE))
          keepAliveSeconds = Number(/timeout=(\d{1,6})/i.exec(fields.value(i))?.[1] ?? 0)
        break
      case CONTENT_LENGTH.hash:
        if (!fields.is(i, CONTENT_LENGTH)) break
        if (length !== UNTIL_CLOSE) throw new ProtocolError('more than one Content-Length')
        length = parseContentLength(fields.value(i)) ?? Infinity
        if (length === Infinity) throw new ProtocolError('the Content-Length is malformed')
        break
      case TRANSFER_ENCODING.hash:
        if (!fields.is(i, TRANSFER_ENCODING)) break
        if (chunked || !equalsIgnoreCase(fields.value(i), 'chunked'))
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
  // Another response follows an interim one; after a switch of protocols, no HTTP follows.
  if (status < 200) return { length: status === 101 ? UNTIL_CLOSE : INTERIM, keepAlive, keepAliveSeconds }
  // RFC 9112, section 6.3.
  if (bodiless || status === 204 || status === 304) {
    // Some servers send a body with 204. It must not be parsed as the next response.
    if (status === 204 && (chunked || length > 0)) keepAlive = false
    return { length: 0, keepAlive, keepAliveSeconds }
  }
  if (chunked) length = CHUNKED
  return { length, keepAlive: keepAlive && length !== UNTIL_CLOSE, keepAliveSeconds }
}
