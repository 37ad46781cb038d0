/** Names of Seats and API keys. */

/** Characters, that is, Unicode code points. */
const MAX_LENGTH = 256
/** C0, DEL, C1, and the two line ends that Unicode adds: none of them belongs into a line of a log. */
const CONTROL = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/

/** Names are compared as they are written: nothing is trimmed, folded or normalised. */
export function isName(text: string): boolean {
  // Each character is one or two code units.
  if (text.length === 0 || text.length > 2 * MAX_LENGTH || !text.isWellFormed()) return false
  return [...text].length <= MAX_LENGTH && text.trim() === text && !CONTROL.test(text)
}
