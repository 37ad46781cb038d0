/**
 * Field lines (RFC 9112, section 5), of header sections and trailers, in either direction. What could be read in two ways
 * is neither read nor written. Used by whoever reads or writes a head.
 */

import { FieldLine } from './field-line.ts'

/** A character of a token (RFC 9110, section 5.6.2), for regular expressions. */
export const TOKEN: string = "[!#$%&'*+.^_`|~0-9A-Za-z-]"
/** Visible characters and blanks (RFC 9110, section 5.5), for regular expressions. */
export const VALUE: string = '[\\t -~\\x80-\\xff]*'
/** Lines without their folding. */
const FIELD_LINES = new RegExp(`(?:${TOKEN}+:${VALUE}\\r\\n)*`, 'y')
const DIGITS = /^[0-9]+$/
/** Elements of a list that the gateway reads, and cookies of a request: each costs time to read. */
export const MAX_LIST_ELEMENTS = 64
export const MAX_COOKIES = 512

/** Digits up to which numbers hold every length. */
const MAX_SAFE_DIGITS = 15
/** What others count to. */
const LENGTH_LIMIT = 2n ** 64n

/** Pieces of fewer lines have their expressions made beforehand. */
const PRECOMPILED = 64

const SPACE = 0x20
const TAB = 0x09

/**
 * Name, value, … in their order; values without the blanks around them.
 *
 * @param text field lines to its end, each with its CRLF
 * @returns null where there is anything else
 */
export function parseFields(text: string, start: number): string[] | null {
  if (!isFieldSection(text, start)) return null
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    fields.push(text.slice(at, colon), trimmed(text, colon + 1, end))
    at = end + 2
  }
  return fields
}

/**
 * The same, of a sender that mostly says again what it said before: lines that have not changed are not read anew.
 *
 * @param last lines of its head before; undefined: there was none
 */
export function parseFieldLines(
  text: string,
  start: number,
  last: readonly FieldLine[] | undefined,
): FieldLine[] | null {
  const lines: FieldLine[] = []
  let valid = false
  for (let at = start; at < text.length;) {
    const before = last?.[lines.length]
    // To its CRLF, and there is none within: it is this line, and no more than that. (`startsWith` goes character by
    // character: it takes six times as long.)
    if (before !== undefined && text.slice(at, at + before.raw.length) === before.raw) {
      lines.push(before.detach())
      at += before.raw.length
      continue
    }
    valid ||= isFieldSection(text, at)
    if (!valid) return null
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    const raw = text.slice(at, end + 2)
    lines.push(new FieldLine(text.slice(at, colon), trimmed(text, colon + 1, end), raw))
    at = end + 2
  }
  return lines
}

/** All of the text, from there on. */
function isFieldSection(text: string, start: number): boolean {
  FIELD_LINES.lastIndex = start
  FIELD_LINES.test(text)
  return FIELD_LINES.lastIndex === text.length
}

/**
 * Whether every reader will find so many lines in this piece of a head that is to be written, and nothing else: a value
 * may hold anything, whoever let it come so far. Pieces that are right make a head that is.
 *
 * @param text lines as they are written, each with its CRLF
 */
export function areWritable(text: string, count: number): boolean {
  return (LINES_EXPRESSIONS[count] ?? linesExpression(count)).test(text)
}

/** An expression for each number of lines: one look at the text, where counting them would be another. */
function linesExpression(count: number): RegExp {
  return new RegExp(`^(?:${TOKEN}+: ${VALUE}\\r\\n){${count}}$`)
}

const LINES_EXPRESSIONS = Array.from({ length: PRECOMPILED }, (_, count) => linesExpression(count))

function trimmed(text: string, from: number, to: number): string {
  let start = from
  let end = to
  while (start < end && isBlank(text.charCodeAt(start))) start++
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--
  return text.slice(start, end)
}

function isBlank(code: number): boolean {
  return code === SPACE || code === TAB
}

/** Names, and values of names, know no case. @param wanted in lower case */
export function equalsIgnoreCase(text: string, wanted: string): boolean {
  return text.length === wanted.length && (text === wanted || text.toLowerCase() === wanted)
}

/** The value of a Content-Length: Infinity where numbers don't hold it, null where it is none, or beyond 64 bits. */
export function parseContentLength(value: string): number | null {
  if (!DIGITS.test(value)) return null
  if (value.length <= MAX_SAFE_DIGITS) return Number(value)
  return BigInt(value) < LENGTH_LIMIT ? Infinity : null
}

/** All lines of a name, as one list (RFC 9110, section 5.3). @param before null at the first */
export function joinValues(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`
}

/** Whether a list has more elements than that, empty ones included. */
export function isLongList(list: string, max: number = MAX_LIST_ELEMENTS, separator = ','): boolean {
  return list.length >= max && countSeparators(list, separator, max) >= max
}

/** How many there are; no more are counted than `most`. */
export function countSeparators(text: string, separator: string, max: number): number {
  let count = 0
  for (let at = text.indexOf(separator); at >= 0 && count < max; at = text.indexOf(separator, at + 1)) count++
  return count
}

/**
 * Whether the connection outlives the message (RFC 9112, section 9.3).
 *
 * @param connection all lines of Connection, joined; null without one
 */
export function isPersistent(connection: string | null, minor: 0 | 1): boolean {
  if (connection === null || connection === 'keep-alive') return minor === 1 || connection !== null
  const options = connection.toLowerCase().split(',')
  if (options.some((option) => option.trim() === 'close')) return false
  return minor === 1 || options.some((option) => option.trim() === 'keep-alive')
}
