/** OWS of RFC 9110, section 5.6.3: spaces and tabs. */

/**
 * The text without spaces and tabs at its ends. `trim` would also remove 0xA0, which is whitespace to
 * JavaScript alone: in fields that are read as latin1, it may be the last byte of a character of UTF-8, such
 * as `à`.
 */
export function withoutOuterBlanks(text: string): string {
  let [from, to] = [0, text.length]
  while (from < to && isBlank(text.charCodeAt(from))) from++
  while (from < to && isBlank(text.charCodeAt(to - 1))) to--
  return text.slice(from, to)
}

function isBlank(byte: number): boolean {
  return byte === 0x20 || byte === 0x09
}
