/**
 * Field lines (RFC 9112, section 5) of header sections and trailers, of requests and responses. Ambiguous
 * lines are neither parsed nor written.
 */

import { withoutOuterBlanks } from '../../lib/optional-whitespace.ts'

/** A `tchar` (RFC 9110, section 5.6.2), as a regular expression source. */
export const TOKEN: string = "[!#$%&'*+.^_`|~0-9A-Za-z-]"
/** A field value with its optional whitespace (RFC 9110, section 5.5), as a regular expression source. */
export const VALUE: string = '[\\t -~\\x80-\\xff]*'
/** Field lines without obsolete line folding. */
const FIELD_LINES = new RegExp(`(?:${TOKEN}+:${VALUE}\\r\\n)*`, 'y')
const DIGITS = /^[0-9]+$/
/** Limits on list elements and on cookies of a request. They bound the time to parse a list. */
export const MAX_LIST_ELEMENTS = 64
export const MAX_COOKIES = 512

/** Decimal digits that a number always holds exactly. */
const MAX_SAFE_DIGITS = 15
/** The largest length that other implementations count, plus one. */
const LENGTH_LIMIT = 2n ** 64n

/** Expressions for fewer lines than this are compiled in advance. */
const PRECOMPILED = 64

/**
 * Parses a field section from `start` to its end; each line ends with CRLF. Values lose the whitespace around
 * them.
 *
 * @returns name, value, … in order; null if the section is malformed
 */
export function parseFields(text: string, start: number): string[] | null {
  FIELD_LINES.lastIndex = start
  FIELD_LINES.test(text)
  if (FIELD_LINES.lastIndex !== text.length) return null
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    fields.push(text.slice(at, colon), withoutOuterBlanks(text.slice(colon + 1, end)))
    at = end + 2
  }
  return fields
}

/**
 * Whether the text consists of exactly `count` valid field lines. A value may hold arbitrary bytes until this
 * check. Valid pieces form a valid head.
 *
 * @param text serialized lines, each with its CRLF
 */
export function areWritable(text: string, count: number): boolean {
  return (LINES_EXPRESSIONS[count] ?? linesExpression(count)).test(text)
}

/** One expression checks and counts the lines in one pass. */
function linesExpression(count: number): RegExp {
  return new RegExp(`^(?:${TOKEN}+: ${VALUE}\\r\\n){${count}}$`)
}

const LINES_EXPRESSIONS = Array.from({ length: PRECOMPILED }, (_, count) => linesExpression(count))

/**
 * Field names, and some values, are case-insensitive.
 *
 * @param wanted in lower case
 */
export function equalsIgnoreCase(text: string, wanted: string): boolean {
  return text.length === wanted.length && (text === wanted || text.toLowerCase() === wanted)
}

/**
 * Parses a Content-Length.
 *
 * @returns Infinity above the exact range of a number; null if malformed or above 64 bits
 */
export function parseContentLength(value: string): number | null {
  if (!DIGITS.test(value)) return null
  if (value.length <= MAX_SAFE_DIGITS) return Number(value)
  return BigInt(value) < LENGTH_LIMIT ? Infinity : null
}

/**
 * Combines the values of repeated lines into one list (RFC 9110, section 5.3).
 *
 * @param before null for the first line
 */
export function joinValues(before: string | null, value: string): string {
  return before === null ? value : `${before}, ${value}`
}

/** Whether a list has more than `max` elements, empty elements included. */
export function isLongList(list: string, max: number = MAX_LIST_ELEMENTS, separator = ','): boolean {
  return list.length >= max && countSeparators(list, separator, max) >= max
}

/** The number of separators, counted up to `max`. */
export function countSeparators(text: string, separator: string, max: number): number {
  let count = 0
  for (let at = text.indexOf(separator); at >= 0 && count < max; at = text.indexOf(separator, at + 1)) count++
  return count
}

/**
 * Whether the connection persists after the message (RFC 9112, section 9.3).
 *
 * @param connection the combined value of Connection; null if absent
 */
export function isPersistent(connection: string | null, minor: 0 | 1): boolean {
  if (connection === null || connection === 'keep-alive') return minor === 1 || connection !== null
  const options = connection.toLowerCase().split(',')
  if (options.some((option) => option.trim() === 'close')) return false
  return minor === 1 || options.some((option) => option.trim() === 'keep-alive')
}
