/**
 * The request grammar (RFC 9112, sections 3, 5 and 6): parses a head into request line, fields and framing
 * (the latter in `header-section.ts`). Ambiguous requests are refused, not repaired.
 */

import { METHODS } from '../../lib/node-http.ts'
import { foldByte } from './field-name.ts'
import type { HeadText } from './field-table.ts'
import { isPersistent, TOKEN } from './fields.ts'
import { type HeaderSection, headerSection } from './header-section.ts'
import { hasBareCrLf } from './message-parser.ts'
import { CHUNKED, type Grammar } from './message-grammar.ts'
import { bodyTooLong, malformed, MalformedRequest } from './malformed-request.ts'

export interface RequestHead {
  readonly method: string
  /** The target as received: visible ASCII; after the first `?` also bytes from 0x80, one character each. */
  readonly target: string
  /** The minor HTTP version. */
  readonly minor: 0 | 1
  readonly section: HeaderSection
  /** The body length in bytes, or {@link CHUNKED}. */
  readonly length: number
  /** The connection persists after this request. */
  readonly keepAlive: boolean
  /** The request came over HTTP/2. */
  readonly http2: boolean
}

const INTERNED_METHODS = new Map(METHODS.map((method) => [method, method]))

/** Longer than any registered method. */
const MAX_METHOD = 64
const METHOD = `${TOKEN}{1,${MAX_METHOD}}`
/**
 * The ASCII alternative comes first, as nearly all targets match it. The gateway does not interpret the
 * query, so its non-ASCII bytes (mostly raw UTF-8) are not ambiguous here. In a path they could be.
 */
const TARGET_BYTES = '(?:[!-~]+|[!->@-~]+\\?[!-~\\x80-\\xff]+)'
const REQUEST_LINE = new RegExp(`^(${METHOD}) (${TARGET_BYTES}) HTTP/1\\.([01])\\r\\n`)
const SLASH = 0x2f
/** Origin, asterisk or absolute form (RFC 9112, section 3.2). Only the characters are checked here. */
const TARGET = /^(?:[/*]|[A-Za-z]+:\/\/[A-Za-z0-9._~!$&'()*+,;=:@%[\]-]*(?:[/?]|$))/
/** A request line with invalid bytes in its target. */
const INVALID_TARGET = (() => {
  const inPath = '[^!-~ \\r\\n]|\\r(?!\\n)'
  const inQuery = '[^!-~\\x80-\\xff \\r\\n]|\\r(?!\\n)'
  return new RegExp(`^${METHOD} [!->@-~]*(?:${inPath}|\\?[!-~\\x80-\\xff]*(?:${inQuery}))`)
})()
/** The line with which the preface of HTTP/2 begins (RFC 9113, section 3.4). */
const HTTP2_LINE = 'PRI * HTTP/2.0\r\n'
const OTHER_VERSION = new RegExp(`^${METHOD} ${TARGET_BYTES} HTTP/[0-9.]+\\r\\n`)
/** The incomplete beginning of a request line. */
const REQUEST_LINE_PREFIX = new RegExp(
  `^(?:\\r|${TOKEN}{0,64}|${METHOD} ${TARGET_BYTES}?|${METHOD} ${TARGET_BYTES} [!-~]*\\r?)$`,
)

/** The length of an incomplete line from which only new characters are checked. */
const INCREMENTAL_FROM = 1024

/** @param maxBytes the limit for a head and for trailers */
export function requestGrammar(maxBytes: number): Grammar<RequestHead> {
  return {
    readHead,
    checkPrefix,
    skipsEmptyLines: true,
    // Trailers are dropped. These fields hint at an attack, and are refused (RFC 9110, section 6.5.1).
    forbiddenTrailers: ['content-length', 'transfer-encoding', 'host'],
    maxTextBody: 0,
    sharedBuffer: false,
    malformed: (what) => malformed(`The request is not valid HTTP/1.1: ${what}.`),
    tooLong: (what, text = '') => tooLong(what, text, maxBytes),
  }
}

/** @param text the received part of a head */
function tooLong(what: string, text: string, maxBytes: number): MalformedRequest {
  if (what === 'body') return bodyTooLong()
  if (what === 'chunk size line')
    return malformed('The request is not valid HTTP/1.1: a chunk size line is too long.')
  const line = what === 'head' ? text.indexOf('\n') : 0
  if (line < 0 || line >= maxBytes)
    return new MalformedRequest('large-target', `The request line is longer than ${maxBytes} bytes.`)
  const section = what === 'head' ? 'header section' : what
  return new MalformedRequest('large-head', `The ${section} is larger than ${maxBytes} bytes.`)
}

function checkPrefix(text: string, before: number): MalformedRequest | null {
  const end = text.indexOf('\n')
  if (end < 0) return isRequestPrefix(text, before) ? null : requestLineFault(text)
  // The line was checked when its end arrived.
  if (end >= before && !REQUEST_LINE.test(text)) return requestLineFault(text)
  return hasBareCrLf(text, before) ? malformed('The request is not valid HTTP/1.1: a bare CR or LF.') : null
}

function isRequestPrefix(text: string, before: number): boolean {
  return before > INCREMENTAL_FROM
    ? /^[ -~\x80-\xff]*\r?$/.test(text.slice(before))
    : REQUEST_LINE_PREFIX.test(text)
}

function readHead(head: HeadText): RequestHead {
  const { text, bytes, offset, start } = head
  const methodEnd = endOfMethod(bytes, start + offset) - offset
  const targetEnd = endOfTarget(bytes, methodEnd + 1 + offset) - offset
  const lineEnd = targetEnd + VERSION.length + 3
  const minor = bytes[targetEnd + VERSION.length + offset] === 0x31 ? 1 : 0
  if (!isRequestLine(head, methodEnd, targetEnd)) throw requestLineFault(text.slice(start, head.end))
  const method = text.slice(start, methodEnd)
  const target = text.slice(methodEnd + 1, targetEnd)
  if (method === 'CONNECT') throw connect()
  if (target.charCodeAt(0) !== SLASH && !TARGET.test(target)) throw invalidTarget()
  const section = headerSection(head, lineEnd)
  const { length } = section
  if (minor === 0 && length === CHUNKED) throw malformed('HTTP/1.0 has no Transfer-Encoding.')
  const keepAlive = isPersistent(section.connection, minor)
  return { method: internedMethod(method), target, minor, section, length, keepAlive, http2: false }
}

const WHOLE_METHOD = new RegExp(`^${METHOD}$`)
const WHOLE_TARGET = new RegExp(`^${TARGET_BYTES}$`)

/**
 * The method of a protocol without request line, by the same grammar. Throws a MalformedRequest.
 *
 * @returns interned
 */
export function checkedMethod(method: string): string {
  if (method === 'GET') return 'GET'
  if (method === 'CONNECT') throw connect()
  if (!WHOLE_METHOD.test(method)) throw malformed('The method is not a token.')
  return internedMethod(method)
}

/**
 * The target of a protocol whose requests have only the origin form, and the asterisk form for OPTIONS. Its
 * bytes are the bytes of the request line. Throws a MalformedRequest.
 */
export function checkTarget(method: string, target: string): void {
  if (target === '*' && method === 'OPTIONS') return
  if (target.charCodeAt(0) !== SLASH || !WHOLE_TARGET.test(target)) throw invalidTarget()
}

function connect(): MalformedRequest {
  return malformed('The gateway does not support CONNECT.')
}

/** Before the digit of the minor version. */
const VERSION = ' HTTP/1.'

/** The position of the first byte that cannot be part of a method. */
function endOfMethod(bytes: Uint8Array, from: number): number {
  let at = from
  while (foldByte(bytes, at) !== 0) at++
  return at
}

/** The position of the first byte that cannot be part of a target. */
function endOfTarget(bytes: Uint8Array, from: number): number {
  let at = from
  let query = false
  for (
    let byte = bytes[at] ?? 0;
    byte > 0x20 && byte !== 0x7f && (byte < 0x7f || query);
    byte = bytes[++at] ?? 0
  )
    if (byte === 0x3f) query = true
  return at
}

/** Whether a space, a version and CRLF follow, and method and target are neither empty nor too long. */
function isRequestLine(
  { bytes, offset, start, end }: HeadText,
  methodEnd: number,
  targetEnd: number,
): boolean {
  const at = targetEnd + offset
  for (let i = 0; i < VERSION.length; i++) if (bytes[at + i] !== VERSION.charCodeAt(i)) return false
  const digit = bytes[at + VERSION.length]
  const length = methodEnd - start
  return (
    (digit === 0x30 || digit === 0x31) &&
    bytes[at + VERSION.length + 1] === 0x0d &&
    bytes[at + VERSION.length + 2] === 0x0a &&
    bytes[methodEnd + offset] === 0x20 &&
    length > 0 &&
    length <= MAX_METHOD &&
    targetEnd > methodEnd + 1 &&
    targetEnd + VERSION.length + 3 <= end
  )
}

/** All requests of a method share one string, so comparisons are by pointer. */
function internedMethod(method: string): string {
  // The most frequent method. The comparison is faster than hashing a new string.
  if (method === 'GET') return 'GET'
  return INTERNED_METHODS.get(method) ?? method
}

const NO_PRIOR_KNOWLEDGE =
  'The gateway does not support HTTP/2 with prior knowledge. HTTP/2 needs TLS, and a listener that offers it by ALPN.'

function requestLineFault(text: string): MalformedRequest {
  if (INVALID_TARGET.test(text)) return invalidTarget()
  if (text.startsWith(HTTP2_LINE)) return new MalformedRequest('http2', NO_PRIOR_KNOWLEDGE)
  if (OTHER_VERSION.test(text)) return malformed('The HTTP version is not 1.0 or 1.1.')
  return malformed('The request is not valid HTTP/1.1: the request line is malformed.')
}

function invalidTarget(): MalformedRequest {
  return new MalformedRequest(
    'bad-target',
    'The request target is not a path, which begins with / and has visible ASCII characters alone, with or without a query.',
  )
}
