/**
 * Requests (RFC 9112, sections 3, 5 and 6), as the reader of messages is to read them: the text of a head in, request
 * line, fields and framing out. What could be read in two ways is refused, not repaired. Used by `conversation.ts`.
 */

import { METHODS } from 'node:http'
import { is, joined, keepsBy, lengthOf, readFields, TOKEN } from './fields.ts'
import { CHUNKED, type Grammar, hasBare } from './message-reader.ts'

export interface RequestHead {
  readonly method: string
  /** As it came: visible ASCII. */
  readonly target: string
  /** HTTP/1.1, or 1.0. */
  readonly minor: 0 | 1
  /** Name, value, … in their order; values without the blanks around them. */
  readonly fields: string[]
  /** Host fields, and the value of the first; null without one. */
  readonly hosts: number
  readonly host: string | null
  /** All lines of Upgrade, and of Expect, joined; null without one. */
  readonly upgrade: string | null
  readonly expect: string | null
  /** Bytes of the body, or {@link CHUNKED}. */
  readonly length: number
  /** The connection may carry another request. */
  readonly keeps: boolean
}

/** What came is no request. Its message is for who has sent it. */
export class RequestFault extends Error {
  readonly kind: 'malformed' | 'bad-target' | 'large-head' | 'large-body'

  constructor(kind: RequestFault['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** So that all requests of one method have the same text, which is compared at a glance. */
const METHOD_TEXTS = new Map(METHODS.map((method) => [method, method]))

/** No method is longer. */
const METHOD = `${TOKEN}{1,64}`
const REQUEST_LINE = new RegExp(`^(${METHOD}) ([!-~]+) HTTP/1\\.([01])\\r\\n`)
/** Origin form, asterisk form, or absolute form (RFC 9112, section 3.2), as far as bytes go. */
const TARGET = /^(?:[/*]|[A-Za-z]+:\/\/[A-Za-z0-9._~!$&'()*+,;=:@%[\]-]*(?:[/?]|$))/
/** It would be one, but for what its target is made of. */
const ODD_TARGET = new RegExp(`^${METHOD} [!-~]*(?:[^!-~ \\r\\n]|\\r(?!\\n))`)
const OTHER_VERSION = new RegExp(`^${METHOD} [!-~]+ HTTP/[0-9.]+\\r\\n`)
/** The beginning of one, of which not all has come. */
const BEGINNING = new RegExp(`^(?:\\r|${TOKEN}{0,64}|${METHOD} [!-~]*|${METHOD} [!-~]+ [!-~]*\\r?)$`)

/** Characters of a beginning from which on only what is new of it is looked at. */
const LONG = 1024

/** @param mostBytes of a head, and of trailers */
export function requestGrammar(mostBytes: number): Grammar<RequestHead> {
  return {
    readHead,
    faultIn,
    emptyLines: true,
    // They are dropped, but whoever sends such has something in mind (RFC 9110, section 6.5.1).
    forbiddenTrailers: ['content-length', 'transfer-encoding', 'host'],
    mostText: 0,
    sharedBuffer: false,
    malformed: (what) => malformed(`The request is not valid HTTP/1.1: ${what}.`),
    tooLong: (what) => tooLong(what, mostBytes),
  }
}

function tooLong(what: string, mostBytes: number): RequestFault {
  if (what === 'body') return bodyTooLong()
  if (what === 'size of a chunk') return malformed('The request is not valid HTTP/1.1: the size of a chunk.')
  const section = what === 'head' ? 'header section' : what
  return new RequestFault('large-head', `The ${section} is larger than ${mostBytes} bytes.`)
}

function bodyTooLong(): RequestFault {
  return new RequestFault('large-body', 'The body is larger than anybody counts.')
}

function faultIn(text: string, before: number): RequestFault | null {
  const end = text.indexOf('\n')
  if (end < 0) return mayBegin(text, before) ? null : lineFault(text)
  // Looked at when its end came.
  if (end >= before && !REQUEST_LINE.test(text)) return lineFault(text)
  return hasBare(text, before) ? malformed('The request is not valid HTTP/1.1: a bare CR or LF.') : null
}

function malformed(detail: string): RequestFault {
  return new RequestFault('malformed', detail)
}

function mayBegin(text: string, before: number): boolean {
  return before > LONG ? /^[ -~]*\r?$/.test(text.slice(before)) : BEGINNING.test(text)
}

function readHead(text: string): RequestHead {
  const line = REQUEST_LINE.exec(text)
  if (line === null) throw lineFault(text)
  const [whole, method = '', target = '', minor] = line
  if (method === 'CONNECT') throw malformed('CONNECT: this is no tunnel.')
  if (!TARGET.test(target)) throw oddTarget()
  const fields = readFields(text, whole.length)
  if (fields === null) throw malformed('The request is not valid HTTP/1.1: not a header field.')
  return frame(text, METHOD_TEXTS.get(method) ?? method, target, minor === '1' ? 1 : 0, fields)
}

function lineFault(text: string): RequestFault {
  if (ODD_TARGET.test(text)) return oddTarget()
  if (OTHER_VERSION.test(text)) return malformed('The HTTP version is not 1.0 or 1.1.')
  return malformed('The request is not valid HTTP/1.1: not a request line.')
}

function oddTarget(): RequestFault {
  return new RequestFault('bad-target', 'The request target is not a path of visible ASCII.')
}

function frame(text: string, method: string, target: string, minor: 0 | 1, fields: string[]): RequestHead {
  let hosts = 0
  let host: string | null = null
  let upgrade: string | null = null
  let expect: string | null = null
  let length = NO_LENGTH
  let connection: string | null = null
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    const value = fields[i + 1] ?? ''
    // Only these lengths can be a name looked for; the others are passed over without a copy.
    switch (name.length) {
      case 4:
        if (!is(name, 'host')) break
        hosts++
        host ??= value
        break
      case 6:
        if (is(name, 'expect')) expect = joined(expect, value)
        break
      case 7:
        if (is(name, 'upgrade')) upgrade = joined(upgrade, value)
        break
      case 10:
        if (is(name, 'connection')) connection = joined(connection, value)
        break
      case 14:
        if (!is(name, 'content-length')) break
        if (length !== NO_LENGTH) throw twoFramings()
        length = countable(lengthOf(value))
        break
      case 17:
        if (!is(name, 'transfer-encoding')) break
        if (length !== NO_LENGTH) throw twoFramings()
        if (minor === 0) throw malformed('HTTP/1.0 has no Transfer-Encoding.')
        if (!CHUNKED_LINE.test(text)) throw malformed('The Transfer-Encoding is not "chunked".')
        length = CHUNKED
        break
    }
  }
  if (length === NO_LENGTH) length = 0
  const keeps = keepsBy(connection, minor)
  return { method, target, minor, fields, hosts, host, upgrade, expect, length, keeps }
}

const NO_LENGTH = -3
/** To the byte: what another reader may take for another coding is none. */
const CHUNKED_LINE = /\r\ntransfer-encoding:[\t ]*chunked *\r\n/i

function twoFramings(): RequestFault {
  return malformed('The request has a Content-Length and a Transfer-Encoding, or one of them twice.')
}

function countable(length: number | null): number {
  if (length === null) throw malformed('The Content-Length is not a number.')
  if (length === Infinity) throw bodyTooLong()
  return length
}
