/**
 * Requests of HTTP/2 (RFC 9113, section 8.3.1): from a decoded field list to method, target and header
 * section, as the parser of HTTP/1.1 has them. A malformed list is refused, not repaired.
 */

import { isSameAuthority } from '../../../model/host.ts'
import type { FieldTable } from '../field-table.ts'
import { type HeaderSection, sectionOf } from '../header-section.ts'
import { malformed, MalformedRequest } from '../malformed-request.ts'
import { CHUNKED } from '../message-grammar.ts'
import { checkedMethod, checkTarget, type RequestHead } from '../request-parser.ts'
import { checkField, fieldsOf, isPseudo, trailerFields } from './field-list.ts'

interface RequestFieldList {
  readonly method: string
  /** The target in origin form, or `*`, as in a {@link RequestHead}. */
  readonly target: string
  /**
   * The header section. Its only Host field has `:authority`, or else Host. Cookie fields are one line, the
   * last one.
   */
  readonly section: HeaderSection
  /** The Content-Length in bytes; null if there is none. */
  readonly length: number | null
}

interface Section {
  /** The authority of the request; null if there is none. */
  readonly authority: string | null
  /** The list, and the position of its first regular field. */
  readonly list: readonly string[]
  readonly from: number
  readonly section: HeaderSection
  readonly length: number | null
}

/** Larger sections are not kept, as each connection has one. In bytes. */
const MAX_KEPT = 4096

/**
 * Reads the requests of a connection. Browsers repeat all fields but the path: the parsed section of the
 * request before is used again where authority and regular fields are equal. It is immutable.
 */
export class RequestListReader {
  #last: Section | null = null

  /**
   * Throws a MalformedRequest.
   *
   * @param list name, value, … as the client sent them; not changed afterwards
   */
  read(list: readonly string[]): RequestFieldList {
    const pseudo = pseudoFields(list)
    const method = checkedMethod(pseudo.method ?? missing())
    const target = pseudo.path ?? missing()
    if (pseudo.scheme !== 'https' && pseudo.scheme !== 'http')
      throw requestFault('the scheme is neither https nor http')
    checkTarget(method, target)
    const { section, length } = this.#section(pseudo.authority, list, pseudo.end)
    return { method, target, section, length }
  }

  #section(authority: string | null, list: readonly string[], from: number): Section {
    const last = this.#last
    if (last?.authority === authority && areEqual(last.list, last.from, list, from)) return last
    const parsed = parseSection(authority, list, from)
    this.#last = parsed.section.fields.bytes <= MAX_KEPT ? parsed : null
    return parsed
  }
}

/** Whether the lists are equal from their positions on. V8 compares strings of the table by pointer. */
function areEqual(a: readonly string[], fromA: number, b: readonly string[], fromB: number): boolean {
  if (a.length - fromA !== b.length - fromB) return false
  for (let i = fromA, j = fromB; i < a.length; i++, j++) if (a[i] !== b[j]) return false
  return true
}

function parseSection(authority: string | null, list: readonly string[], from: number): Section {
  const lines = new RequestLines(authority)
  for (let i = from; i < list.length; i += 2) lines.add(list[i] ?? '', list[i + 1] ?? '')
  const section = sectionOf(lines.parsed())
  return { authority, list, from, section, length: lines.hasLength ? section.length : null }
}

/**
 * Throws a MalformedRequest if the trailers, which the gateway drops, are malformed.
 *
 * @param list name, value, …
 */
export function checkRequestTrailers(list: readonly string[]): void {
  trailerFields(list, requestFault)
}

/**
 * Whether a request that may be malformed has the method HEAD.
 *
 * @param list name, value, …
 */
export function isHead(list: readonly string[]): boolean {
  for (let i = 0; i < list.length; i += 2) if (list[i] === ':method' && list[i + 1] === 'HEAD') return true
  return false
}

interface PseudoFields {
  readonly method: string | null
  readonly scheme: string | null
  readonly authority: string | null
  readonly path: string | null
  /** The position of the first regular field in the list. */
  readonly end: number
}

function pseudoFields(list: readonly string[]): PseudoFields {
  let method: string | null = null
  let scheme: string | null = null
  let authority: string | null = null
  let path: string | null = null
  let end = 0
  for (; isPseudo(list[end] ?? ''); end += 2) {
    const value = list[end + 1] ?? ''
    switch (list[end]) {
      case ':method':
        method = first(method, value)
        break
      case ':scheme':
        scheme = first(scheme, value)
        break
      case ':authority':
        authority = first(authority, value)
        break
      case ':path':
        path = first(path, value)
        break
      default:
        throw requestFault('a pseudo-header field is unknown')
    }
  }
  return { method, scheme, authority, path, end }
}

function first(before: string | null, value: string): string {
  if (before !== null) throw requestFault('a pseudo-header field is repeated')
  return value
}

function missing(): never {
  throw requestFault('a pseudo-header field is missing')
}

/** The regular fields of a request as lines of HTTP/1.1: one Host, one Cookie. Throws a MalformedRequest. */
class RequestLines {
  #text = ''
  #count = 0
  #host: string | null
  /** Host has been seen beside `:authority`, or alone. */
  #hasHost = false
  #cookies: string | null = null
  /** Whether the request has a Content-Length. */
  hasLength = false

  /** @param authority of `:authority`; null without it */
  constructor(authority: string | null) {
    this.#host = authority
    if (authority !== null) this.#add('host', authority)
  }

  add(name: string, value: string): void {
    if (name === 'host') this.#addHost(value)
    // In HTTP/1.1 the pieces of a cookie are one field (RFC 9113, section 8.2.3).
    else if (name === 'cookie') this.#addCookie(value)
    else {
      if (name === 'content-length') this.hasLength = true
      this.#add(name, value)
    }
  }

  parsed(): FieldTable {
    if (this.#cookies !== null) this.#add('cookie', this.#cookies)
    return fieldsOf(this.#text, this.#count, requestFault)
  }

  /**
   * Beside `:authority` it is one field too many for HTTP/1.1. Where both name the same authority, as for an
   * absolute target of HTTP/1.1, `:authority` is kept (RFC 9113, section 8.3.1).
   */
  #addHost(value: string): void {
    if (this.#hasHost) throw requestFault('Host is repeated')
    this.#hasHost = true
    if (this.#host === null) this.#add('host', value)
    else if (!isSameAuthority(this.#host, value)) throw requestFault('Host differs from the authority')
  }

  /** Joined in order. An empty piece has no cookie, and would put a separator at an end of the value. */
  #addCookie(value: string): void {
    checkField('cookie', value, requestFault)
    if (this.#cookies === null || this.#cookies === '') this.#cookies = value
    else if (value !== '') this.#cookies += `; ${value}`
  }

  #add(name: string, value: string): void {
    checkField(name, value, requestFault)
    this.#text += `${name}: ${value}\r\n`
    this.#count++
  }
}

/** @param what a clause without a full stop, free of received bytes */
function requestFault(what: string): MalformedRequest {
  return malformed(`The request is not valid HTTP/2: ${what}.`)
}

/** Two spaces, the version and the end of a line in HTTP/1.1. */
const VERSION_BYTES = 12
/** The end of a header section. */
const END_BYTES = 2

/**
 * The head as the parser of HTTP/1.1 gives it, and within the same limit. Throws a MalformedRequest where the
 * head is too long, or a body is announced and none follows.
 *
 * @param endStream no body follows
 * @param maxBytes the limit of the same head in HTTP/1.1
 */
export function requestHead(list: RequestFieldList, endStream: boolean, maxBytes: number): RequestHead {
  const { method, target, section } = list
  const lineBytes = method.length + target.length + VERSION_BYTES
  if (lineBytes > maxBytes) throw largeTarget(maxBytes)
  if (lineBytes + section.fields.bytes + END_BYTES > maxBytes) throw largeHead(maxBytes)
  if (endStream && (list.length ?? 0) > 0) throw malformed('The request has a Content-Length, and no body.')
  const length = endStream ? 0 : (list.length ?? CHUNKED)
  return { method, target, minor: 1, section, length, keepAlive: true, http2: true }
}

/**
 * The fault of a head over the limits.
 *
 * @param fields those before the limit: name, value, …
 */
export function cutHead(fields: readonly string[], maxBytes: number): MalformedRequest {
  return fields.some((name, i) => i % 2 === 0 && name === ':path')
    ? largeHead(maxBytes)
    : largeTarget(maxBytes)
}

function largeTarget(maxBytes: number): MalformedRequest {
  return new MalformedRequest('large-target', `The request line is longer than ${maxBytes} bytes.`)
}

function largeHead(maxBytes: number): MalformedRequest {
  return new MalformedRequest(
    'large-head',
    `The header section is larger than ${maxBytes} bytes, or has too many fields.`,
  )
}
