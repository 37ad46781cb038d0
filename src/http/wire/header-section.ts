/** The header section of a request (RFC 9112, section 5): its fields, and what they say of framing and connection. */

import {
  equalsIgnoreCase,
  isLongList,
  joinValues,
  parseContentLength,
  MAX_COOKIES,
  MAX_LIST_ELEMENTS,
  parseFields,
  countSeparators,
} from './fields.ts'
import { CHUNKED } from './message-parser.ts'
import { bodyTooLong, malformed, type MalformedRequest } from './malformed-request.ts'

export interface HeaderSection {
  /** As it came: field lines, each with its CRLF. */
  readonly text: string
  /** Name, value, … in their order; values without the blanks around them. */
  readonly fields: readonly string[]
  /** Host fields, and the value of the first; null without one. */
  readonly hosts: number
  readonly host: string | null
  /** All lines of Upgrade, Expect and Connection, joined; null without one. */
  readonly upgrade: string | null
  readonly expect: string | null
  readonly connection: string | null
  /** Bytes of the body, or {@link CHUNKED}. */
  readonly length: number
}

/** Throws a MalformedRequest. */
export function headerSection(text: string): HeaderSection {
  const fields = parseFields(text, 0)
  if (fields === null) throw malformed('The request is not valid HTTP/1.1: a header field is malformed.')
  let hosts = 0
  let host: string | null = null
  let upgrade: string | null = null
  let expect: string | null = null
  let length = NO_LENGTH
  let connection: string | null = null
  let cookies = 0
  for (let i = 0; i < fields.length; i += 2) {
    const name = fields[i] ?? ''
    const value = fields[i + 1] ?? ''
    // The length excludes most names without a copy.
    switch (name.length) {
      case 4:
        if (!equalsIgnoreCase(name, 'host')) break
        hosts++
        host ??= value
        break
      case 6:
        if (equalsIgnoreCase(name, 'expect')) expect = joinValues(expect, value)
        else if (equalsIgnoreCase(name, 'cookie')) cookies += 1 + countSeparators(value, ';', MAX_COOKIES)
        break
      case 7:
        if (equalsIgnoreCase(name, 'upgrade')) upgrade = joinValues(upgrade, value)
        break
      case 10:
        if (equalsIgnoreCase(name, 'connection')) connection = joinValues(connection, value)
        break
      case 14:
        if (!equalsIgnoreCase(name, 'content-length')) break
        if (length !== NO_LENGTH) throw twoFramings()
        length = countable(parseContentLength(value))
        break
      case 17:
        if (!equalsIgnoreCase(name, 'transfer-encoding')) break
        if (length !== NO_LENGTH) throw twoFramings()
        if (!CHUNKED_LINE.test(text)) throw malformed('The Transfer-Encoding is not "chunked".')
        length = CHUNKED
        break
    }
  }
  if (length === NO_LENGTH) length = 0
  if (cookies > MAX_COOKIES) throw malformed(`The request has more than ${MAX_COOKIES} cookies.`)
  if (connection !== null && isLongList(connection)) throw longList('Connection')
  if (upgrade !== null && isLongList(upgrade)) throw longList('Upgrade')
  return { text, fields, hosts, host, upgrade, expect, connection, length }
}

const NO_LENGTH = -3
/** To the byte: what another reader may take for another coding is none. */
const CHUNKED_LINE = /(?:^|\r\n)transfer-encoding:[\t ]*chunked *\r\n/i

function longList(name: string): MalformedRequest {
  return malformed(`The ${name} of the request has more than ${MAX_LIST_ELEMENTS} elements.`)
}

function twoFramings(): MalformedRequest {
  return malformed('The request has a Content-Length and a Transfer-Encoding, or one of them twice.')
}

function countable(length: number | null): number {
  if (length === null) throw malformed('The Content-Length is not a number.')
  if (length === Infinity) throw bodyTooLong()
  return length
}
