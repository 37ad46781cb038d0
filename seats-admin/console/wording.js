/** Messages of the gateway's endpoints, which programs read too, in the words of the pages. */

/** Characters of a value. */
const MOST = 60

/**
 * A field of a request in words. Of a list, the element that was sent: its number says nothing to a reader.
 *
 * @param {string} pointer into the body (RFC 6901), or the name of a parameter after a slash
 * @param {unknown} sent the body
 * @returns {string} such as `seats "Viewer"`
 */
export function placeText(pointer, sent) {
  const [field = '', ...rest] = pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const named = field.replaceAll('_', ' ')
  const value = rest.reduce((of, part) => memberOf(of, part), memberOf(sent, field))
  if (rest.length === 0) return named
  if (typeof value === 'string')
    return `${named} "${value.length > MOST ? `${value.slice(0, MOST)}…` : value}"`
  return [named, ...rest].join(', ')
}

/**
 * @param {unknown} of
 * @param {string} name
 * @returns {unknown}
 */
function memberOf(of, name) {
  if (typeof of !== 'object' || of === null || !Object.hasOwn(of, name)) return undefined
  return /** @type {Readonly<Record<string, unknown>>} */ (of)[name]
}

/** The one who reads it is the caller. @param {string} detail */
export function toYou(detail) {
  return detail
    .replaceAll("None of the caller's Seats", 'None of your Seats')
    .replaceAll('The credential names no Seat', 'You have no Seat')
    .replaceAll('The credential names Seats that hold', 'You have Seats that hold')
}

/** Whether it says in which other spaces the reader has the right. @param {string} detail as of `toYou` */
export function namesSpaces(detail) {
  return detail.includes('You have Seats that hold')
}
