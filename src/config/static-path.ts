/** Reads a path of static segments: the `prefix` of a table or the `base_path` of an upstream. */

import { InvalidValue } from './invalid-value.ts'

/**
 * The characters of a segment (RFC 3986, section 3.3), except `;`, and `*`, `{` and `}`, which patterns use.
 */
const SEGMENTS = /^(?:\/(?:[A-Za-z0-9._~!$&'()+,=:@-]|%[0-9A-F]{2})+)+$/
/** Escapes of unreserved characters, slashes, backslashes, semicolons and control characters. */
const ESCAPE = /%(?:[01][0-9A-F]|2D|2E|2F|3[0-9]|3B|4[1-9A-F]|5[0-9A]|5C|5F|6[1-9A-F]|7[0-9A]|7E|7F)/
const DOT_SEGMENT = /\/\.\.?(?:\/|$)/

/** A path in the normal form of requests, so that it has one meaning to each reader. */
export function staticPath(text: string): string | InvalidValue {
  if (!text.startsWith('/')) return new InvalidValue('does not begin with a slash')
  if (text.endsWith('/')) return new InvalidValue('ends with a slash: leave it out')
  if (/[*{}]/.test(text)) return new InvalidValue('has a parameter or *: only fixed segments are allowed')
  if (DOT_SEGMENT.test(text)) return new InvalidValue('has a dot segment: remove it')
  if (!SEGMENTS.test(text) || ESCAPE.test(text) || !areEscapesUtf8(text))
    return new InvalidValue(
      'is not a normalised path: its segments must be visible ASCII, without ; and without percent-escapes that are not needed',
    )
  return text
}

/** Whether the escapes are valid UTF-8. Other characters above ASCII are not checked. */
export function areEscapesUtf8(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}
