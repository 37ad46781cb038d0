/**
 * The rules for the fields of HTTP/2 messages (RFC 9113, section 8.2). The fields then pass through the field
 * table of HTTP/1.1, so that no name or value can become another line there.
 */

import { FieldTable } from '../field-table.ts'
import { parseContentLength, TOKEN } from '../fields.ts'

/**
 * Makes the error of a malformed message.
 *
 * @param what a clause without a full stop, free of received bytes
 */
export type Fault = (what: string) => Error

const COLON = 0x3a
const SPACE = 0x20
const TAB = 0x09

const token = new RegExp(`^${TOKEN}$`)
/** 1 for each code of a token character that is not an upper-case letter. */
const IN_NAME = Uint8Array.from({ length: 256 }, (_, code) => {
  const character = String.fromCharCode(code)
  return token.test(character) && !/[A-Z]/.test(character) ? 1 : 0
})

export function isPseudo(name: string): boolean {
  return name.charCodeAt(0) === COLON
}

/**
 * Throws unless the field is a regular one that HTTP/2 permits. The bytes of the value are left to
 * {@link fieldsOf}.
 */
export function checkField(name: string, value: string, fault: Fault): void {
  if (!isName(name))
    throw fault(
      isPseudo(name) ? 'a pseudo-header field is out of place' : 'a field name is not a token in lower case',
    )
  if (isOfConnection(name, value)) throw fault('a field is specific to a connection')
  if (isBlank(value.charCodeAt(0)) || isBlank(value.charCodeAt(value.length - 1)))
    throw fault('a field value begins or ends with whitespace')
}

function isName(name: string): boolean {
  for (let i = 0; i < name.length; i++) if (IN_NAME[name.charCodeAt(i)] !== 1) return false
  return name !== ''
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

/** RFC 9113, section 8.2.2. The length tells most names apart. */
function isOfConnection(name: string, value: string): boolean {
  switch (name.length) {
    case 2:
      return name === 'te' && value !== 'trailers'
    case 7:
      return name === 'upgrade'
    case 10:
      return name === 'connection' || name === 'keep-alive'
    case 16:
      return name === 'proxy-connection'
    case 17:
      return name === 'transfer-encoding'
    default:
      return false
  }
}

/** Holds the bytes of most lists during parsing: a buffer for each costs as much as the rest of it. */
const scratch = Buffer.allocUnsafeSlow(8 * 1024)

/**
 * Throws if the lines are not exactly the fields that they were made of: a value has a byte that it may not
 * have.
 *
 * @param text a line for each field, each with its CRLF; names are checked
 */
export function fieldsOf(text: string, count: number, fault: Fault): FieldTable {
  const isShort = text.length <= scratch.length
  const bytes = isShort ? scratch : Buffer.from(text, 'latin1')
  if (isShort) scratch.write(text, 'latin1')
  const fields = FieldTable.parse({ text, bytes, offset: 0, start: 0, end: text.length }, 0)
  if (fields?.count !== count) throw fault('a field value has a forbidden byte')
  return fields
}

/** Fields that have no meaning, or do harm, as trailers (RFC 9110, section 6.5.1). */
const NOT_IN_TRAILERS = new Set(['content-length', 'host'])

/**
 * Throws if a trailer section is malformed.
 *
 * @param list name, value, …
 */
export function trailerFields(list: readonly string[], fault: Fault): FieldTable {
  let text = ''
  for (let i = 0; i < list.length; i += 2) {
    const name = list[i] ?? ''
    const value = list[i + 1] ?? ''
    checkField(name, value, fault)
    if (NOT_IN_TRAILERS.has(name)) throw fault('a field is not permitted in trailers')
    text += `${name}: ${value}\r\n`
  }
  return fieldsOf(text, list.length / 2, fault)
}

interface ResponseFieldList {
  readonly status: number
  readonly fields: FieldTable
  /** The Content-Length in bytes; null if there is none. */
  readonly length: number | null
}

/** Neither a status that begins with 0 nor 101, which HTTP/2 does not have (RFC 9113, section 8.6). */
const STATUS = /^(?!101)[1-9][0-9]{2}$/

/**
 * Throws if the head of a response, interim or final, is malformed (RFC 9113, section 8.3.2).
 *
 * @param list name, value, …
 */
export function responseFields(list: readonly string[], fault: Fault): ResponseFieldList {
  if (list[0] !== ':status' || !STATUS.test(list[1] ?? ''))
    throw fault('the response does not begin with a valid status')
  let text = ''
  let length: number | null = null
  for (let i = 2; i < list.length; i += 2) {
    const name = list[i] ?? ''
    const value = list[i + 1] ?? ''
    checkField(name, value, fault)
    if (name === 'content-length') {
      if (length !== null) throw fault('more than one Content-Length')
      length = parseContentLength(value) ?? Infinity
      if (length === Infinity) throw fault('the Content-Length is malformed')
    }
    text += `${name}: ${value}\r\n`
  }
  return { status: Number(list[1]), fields: fieldsOf(text, list.length / 2 - 1, fault), length }
}
