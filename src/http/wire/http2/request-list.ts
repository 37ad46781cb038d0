/**
 * Requests of HTTP/2 (RFC 9113, section 8.3.1): from a decoded field list to method, target and header section, as the
 * parser of HTTP/1.1 has them. A malformed list is refused, not repaired.
 */

import { type HeaderSection, sectionOf } from '../header-section.ts'
import { checkedMethod, checkTarget } from '../request-parser.ts'
import { isPseudo, trailerFields } from './field-list.ts'
import { requestFault, RequestLines } from './request-lines.ts'

export interface RequestFieldList {
  readonly method: string
  /** As the target of a {@link RequestHead}: origin form, or `*`. */
  readonly target: string
  /** Of `:authority` or else Host; null without both. The section has it as its only Host field. */
  readonly authority: string | null
  /** Cookie fields are one line, the last one. */
  readonly section: HeaderSection
  /** Of Content-Length, in bytes; null without one. */
  readonly length: number | null
}

/** Throws a MalformedRequest. @param list name, value, … as the client sent them */
export function requestFields(list: readonly string[]): RequestFieldList {
  return new RequestListReader().read(list)
}

interface Section {
  /** Of `:authority`. */
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
 * Reads the requests of a connection. Browsers repeat all fields but the path: the parsed section of the request before is
 * used again where authority and regular fields are equal. It is immutable.
 */
export class RequestListReader {
  #last: Section | null = null

  /** Throws a MalformedRequest. @param list name, value, … as the client sent them; not changed afterwards */
  read(list: readonly string[]): RequestFieldList {
    const pseudo = pseudoFields(list)
    const method = checkedMethod(pseudo.method ?? missing())
    const target = pseudo.path ?? missing()
    if (pseudo.scheme !== 'https' && pseudo.scheme !== 'http')
      throw requestFault('the scheme is neither https nor http')
    checkTarget(method, target)
    const { section, length } = this.#section(pseudo.authority, list, pseudo.end)
    return { method, target, authority: section.host, section, length }
  }

  #section(authority: string | null, list: readonly string[], from: number): Section {
    const last = this.#last
    if (last?.authority === authority && areEqual(last.list, last.from, list, from)) return last
    const parsed = parseSection(authority, list, from)
    this.#last = parsed.section.fields.bytes <= MAX_KEPT ? parsed : null
    return parsed
  }
}

/** Whether the lists are equal from their positions on. Strings of the dynamic table are compared by pointer. */
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

/** Throws a MalformedRequest if the trailers, which the gateway drops, are malformed. @param list name, value, … */
export function checkRequestTrailers(list: readonly string[]): void {
  trailerFields(list, requestFault)
}

/** Whether a request that may be malformed has the method HEAD. @param list name, value, … */
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
