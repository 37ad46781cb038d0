/**
 * Field lines (RFC 9112, section 5), of header sections and trailers, in either direction. What could be read in two ways
 * is not read at all. Used by whoever reads a head.
 */

/** Lines without their folding; token, colon, then visible characters and blanks (RFC 9110, section 5.5). */
const FIELD_LINES = /(?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t -~\x80-\xff]*\r\n)*/y
const LENGTH = /^[0-9]{1,15}$/

const SPACE = 0x20
const TAB = 0x09

/**
 * Name, value, … in their order; values without the blanks around them.
 *
 * @param text field lines to its end, each with its CRLF
 * @returns null where there is anything else
 */
export function readFields(text: string, start: number): string[] | null {
  FIELD_LINES.lastIndex = start
  FIELD_LINES.test(text)
  if (FIELD_LINES.lastIndex !== text.length) return null
  const fields: string[] = []
  for (let at = start; at < text.length;) {
    const colon = text.indexOf(':', at)
    const end = text.indexOf('\r\n', colon)
    fields.push(text.slice(at, colon), trimmed(text, colon + 1, end))
    at = end + 2
  }
  return fields
}

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
export function is(text: string, wanted: string): boolean {
  return text.length === wanted.length && (text === wanted || text.toLowerCase() === wanted)
}

/** The value of a Content-Length; null where it is no length that numbers hold. */
export function lengthOf(value: string): number | null {
  return LENGTH.test(value) ? Number(value) : null
}

/** Whether the connection outlives the message, by its Connection (RFC 9112, section 9.3). @param keeps without one */
export function keepsBy(value: string, keeps: boolean): boolean {
  const options = value.toLowerCase().split(',')
  if (options.some((option) => option.trim() === 'close')) return false
  return keeps || options.some((option) => option.trim() === 'keep-alive')
}
