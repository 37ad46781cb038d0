/**
 * The header section of a request (RFC 9112, sections 5 and 6): its fields, framing and connection. Refuses
 * what two parsers could read differently, such as two `Content-Length` or one beside `Transfer-Encoding`.
 */

import { fieldName } from './field-name.ts'
import { FieldTable, type HeadText } from './field-table.ts'
import {
  countSeparators,
  isLongList,
  joinValues,
  MAX_COOKIES,
  MAX_LIST_ELEMENTS,
  parseContentLength,
} from './fields.ts'
import { bodyTooLong, malformed, type MalformedRequest } from './malformed-request.ts'
import { CHUNKED } from './message-grammar.ts'

export interface HeaderSection {
  readonly fields: FieldTable
  /** The number of Host fields, and the value of the first; null without one. */
  readonly hosts: number
  readonly host: string | null
  /** The values of all lines of Upgrade, Expect and Connection, combined; null without one. */
  readonly upgrade: string | null
  readonly expect: string | null
  readonly connection: string | null
  /** The body length in bytes, or {@link CHUNKED}. */
  readonly length: number
}

const HOST = fieldName('host')
const EXPECT = fieldName('expect')
const COOKIE = fieldName('cookie')
const UPGRADE = fieldName('upgrade')
const CONNECTION = fieldName('connection')
const CONTENT_LENGTH = fieldName('content-length')
const TRANSFER_ENCODING = fieldName('transfer-encoding')

/**
 * Throws a MalformedRequest.
 *
 * @param from the position of the first field line
 */
export function headerSection(head: HeadText, from: number): HeaderSection {
  const fields = FieldTable.parse(head, from)
  if (fields === null) throw malformed('The request is not valid HTTP/1.1: a header field is malformed.')
  return sectionOf(fields)
}

/** Throws a MalformedRequest. */
export function sectionOf(fields: FieldTable): HeaderSection {
  let hosts = 0
  let host: string | null = null
  let upgrade: string | null = null
  let expect: string | null = null
  let length: number | null = null
  let connection: string | null = null
  let cookies = 0
  for (let i = 0; i < fields.count; i++) {
    // Few fields have one of these hashes; `is` then compares the name.
    switch (fields.hash(i)) {
      case HOST.hash:
        if (!fields.is(i, HOST)) break
        hosts++
        host ??= fields.value(i)
        break
      case EXPECT.hash:
        if (fields.is(i, EXPECT)) expect = joinValues(expect, fields.value(i))
        break
      case COOKIE.hash:
        if (fields.is(i, COOKIE)) cookies += 1 + countSeparators(fields.value(i), ';', MAX_COOKIES)
        break
      case UPGRADE.hash:
        if (fields.is(i, UPGRADE)) upgrade = joinValues(upgrade, fields.value(i))
        break
      case CONNECTION.hash:
        if (fields.is(i, CONNECTION)) connection = joinValues(connection, fields.value(i))
        break
      case CONTENT_LENGTH.hash:
        if (!fields.is(i, CONTENT_LENGTH)) break
        if (length !== null) throw twoFramings()
        length = countable(fields.value(i))
        break
      case TRANSFER_ENCODING.hash:
        if (!fields.is(i, TRANSFER_ENCODING)) break
        if (length !== null) throw twoFramings()
        if (!CHUNKED_LINE.test(fields.received(i))) throw malformed('The Transfer-Encoding is not "chunked".')
        length = CHUNKED
        break
    }
  }
  if (cookies > MAX_COOKIES) throw malformed(`The request has more than ${MAX_COOKIES} cookies.`)
  if (connection !== null && isLongList(connection)) throw longList('Connection')
  if (upgrade !== null && isLongList(upgrade)) throw longList('Upgrade')
  return { fields, hosts, host, upgrade, expect, connection, length: length ?? 0 }
}

/** The only accepted spelling: another parser could read any other value as a further coding. */
const CHUNKED_LINE = /^transfer-encoding:[\t ]*chunked *\r\n$/i

function longList(name: string): MalformedRequest {
  return malformed(`The ${name} of the request has more than ${MAX_LIST_ELEMENTS} elements.`)
}

function twoFramings(): MalformedRequest {
  return malformed('The request has a Content-Length and a Transfer-Encoding, or one of them twice.')
}

/** A leading zero is allowed (RFC 9110, section 8.6), but some readers take the number for an octal one. */
function countable(value: string): number {
  const length = value.length > 1 && value.startsWith('0') ? null : parseContentLength(value)
  if (length === null) throw malformed('The Content-Length is not a number in digits without leading zeros.')
  if (length === Infinity) throw bodyTooLong()
  return length
}
