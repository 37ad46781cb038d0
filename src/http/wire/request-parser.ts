/**
 * Requests (RFC 9112, sections 3, 5 and 6), as the reader of messages is to read them: the text of a head in, request
 * line, fields and framing out. What could be read in two ways is refused, not repaired.
 */

import { METHODS } from 'node:http'
import { isPersistent, TOKEN } from './fields.ts'
import { type HeaderSection, headerSection } from './header-section.ts'
import { CHUNKED, type Grammar, hasBareCrLf } from './message-parser.ts'
import { bodyTooLong, malformed, MalformedRequest } from './malformed-request.ts'

export interface RequestHead {
  readonly method: string
  /** As it came: visible ASCII, and from the first `?` on also bytes from 0x80 on, one character each. */
  readonly target: string
  /** HTTP/1.1, or 1.0. */
  readonly minor: 0 | 1
  readonly section: HeaderSection
  /** Bytes of the body, or {@link CHUNKED}. */
  readonly length: number
  /** The connection may carry another request. */
  readonly keepAlive: boolean
}

const INTERNED_METHODS = new Map(METHODS.map((method) => [method, method]))

/** No method is longer. */
const METHOD = `${TOKEN}{1,64}`
/**
 * Nearly all targets are ASCII: that is tried first. The query is not read, so bytes of it that are not ASCII (raw UTF-8,
 * mostly) can't be read in two ways here; in a path they could.
 */
const TARGET_BYTES = '(?:[!-~]+|[!->@-~]+\\?[!-~\\x80-\\xff]+)'
const REQUEST_LINE = new RegExp(`^(${METHOD}) (${TARGET_BYTES}) HTTP/1\\.([01])\\r\\n`)
const SLASH = 0x2f
/** Origin form, asterisk form, or absolute form (RFC 9112, section 3.2), as far as bytes go. */
const TARGET = /^(?:[/*]|[A-Za-z]+:\/\/[A-Za-z0-9._~!$&'()*+,;=:@%[\]-]*(?:[/?]|$))/
/** It would be one, but for what its target is made of. */
const INVALID_TARGET = (() => {
  const inPath = '[^!-~ \\r\\n]|\\r(?!\\n)'
  const inQuery = '[^!-~\\x80-\\xff \\r\\n]|\\r(?!\\n)'
  return new RegExp(`^${METHOD} [!->@-~]*(?:${inPath}|\\?[!-~\\x80-\\xff]*(?:${inQuery}))`)
})()
const OTHER_VERSION = new RegExp(`^${METHOD} ${TARGET_BYTES} HTTP/[0-9.]+\\r\\n`)
/** The beginning of one, of which not all has come. */
const REQUEST_LINE_PREFIX = new RegExp(
  `^(?:\\r|${TOKEN}{0,64}|${METHOD} ${TARGET_BYTES}?|${METHOD} ${TARGET_BYTES} [!-~]*\\r?)$`,
)

/** Characters of a beginning from which on only what is new of it is looked at. */
const INCREMENTAL_FROM = 1024

/** @param mostBytes of a head, and of trailers */
export function requestGrammar(maxBytes: number): Grammar<RequestHead> {
  return {
    readHead,
    checkPrefix,
    skipsEmptyLines: true,
    // They are dropped, but whoever sends such has something in mind (RFC 9110, section 6.5.1).
    forbiddenTrailers: ['content-length', 'transfer-encoding', 'host'],
    maxTextBody: 0,
    sharedBuffer: false,
    malformed: (what) => malformed(`The request is not valid HTTP/1.1: ${what}.`),
    tooLong: (what, text = '') => tooLong(what, text, maxBytes),
  }
}

/** @param text of a head, as far as it has come */
function tooLong(what: string, text: string, maxBytes: number): MalformedRequest {
  if (what === 'body') return bodyTooLong()
  if (what === 'size of a chunk') return malformed('The request is not valid HTTP/1.1: the size of a chunk.')
  const line = what === 'head' ? text.indexOf('\n') : 0
  if (line < 0 || line >= maxBytes)
    return new MalformedRequest('large-target', `The request line is longer than ${maxBytes} bytes.`)
  const section = what === 'head' ? 'header section' : what
  return new MalformedRequest('large-head', `The ${section} is larger than ${maxBytes} bytes.`)
}

function checkPrefix(text: string, before: number): MalformedRequest | null {
  const end = text.indexOf('\n')
  if (end < 0) return isRequestPrefix(text, before) ? null : requestLineFault(text)
  // Looked at when its end came.
  if (end >= before && !REQUEST_LINE.test(text)) return requestLineFault(text)
  return hasBareCrLf(text, before) ? malformed('The request is not valid HTTP/1.1: a bare CR or LF.') : null
}

function isRequestPrefix(text: string, before: number): boolean {
  return before > INCREMENTAL_FROM
    ? /^[ -~\x80-\xff]*\r?$/.test(text.slice(before))
    : REQUEST_LINE_PREFIX.test(text)
}

function readHead(text: string, _bodiless: boolean, last?: HeaderSection): RequestHead {
  const line = REQUEST_LINE.exec(text)
  if (line === null) throw requestLineFault(text)
  const [whole, method = '', target = ''] = line
  const minor = line[3] === '1' ? 1 : 0
  if (method === 'CONNECT') throw malformed('CONNECT: this is no tunnel.')
  if (target.charCodeAt(0) !== SLASH && !TARGET.test(target)) throw invalidTarget()
  const section = headerSection(text.slice(whole.length), last ?? null)
  const { length } = section
  if (minor === 0 && length === CHUNKED) throw malformed('HTTP/1.0 has no Transfer-Encoding.')
  const keepAlive = isPersistent(section.connection, minor)
  return { method: internedMethod(method), target, minor, section, length, keepAlive }
}

/** The texts that all requests of a method share: they are compared at a glance. */
function internedMethod(method: string): string {
  // Most are; and it is found faster so than by the hash of a text that has none yet.
  if (method === 'GET') return 'GET'
  return INTERNED_METHODS.get(method) ?? method
}

function requestLineFault(text: string): MalformedRequest {
  if (INVALID_TARGET.test(text)) return invalidTarget()
  if (OTHER_VERSION.test(text)) return malformed('The HTTP version is not 1.0 or 1.1.')
  return malformed('The request is not valid HTTP/1.1: not a request line.')
}

function invalidTarget(): MalformedRequest {
  return new MalformedRequest(
    'bad-target',
    'The request target is not a path of visible ASCII, with or without a query.',
  )
}
