/** The syntax of Seat and API key names. */

/** Unicode code points. */
export const MAX_LENGTH = 256
/** C0, DEL, C1, U+2028 and U+2029: names appear in log lines. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Names are compared as written: not trimmed, case-folded or normalized. */
export function isName(text: string): boolean {
  // A code point has one or two UTF-16 code units.
  if (text.length === 0 || text.length > 2 * MAX_LENGTH || !text.isWellFormed()) return false
  return [...text].length <= MAX_LENGTH && text.trim() === text && !CONTROL.test(text)
}
