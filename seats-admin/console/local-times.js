/** Times of fields, which are in the reader's zone, and of addresses and requests, which are in UTC. */

/**
 * @param {string} local of a field `datetime-local`
 * @returns {string} RFC 3339; '' without a time
 */
export function utcOf(local) {
  const time = Date.parse(local)
  return Number.isNaN(time) ? '' : new Date(time).toISOString().replace('.000Z', 'Z')
}

/** A time with its zone (RFC 3339): without one, it would be another time for another reader. */
const ZONED = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)$/

/**
 * @param {string} time of an address
 * @returns {string} for a field; '' where it is no time with a zone
 */
export function localOf(time) {
  const date = new Date(ZONED.test(time) ? time : Number.NaN)
  if (Number.isNaN(date.getTime())) return ''
  const two = (/** @type {number} */ part) => String(part).padStart(2, '0')
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`
  const seconds = date.getSeconds() === 0 ? '' : `:${two(date.getSeconds())}`
  return `${day}T${two(date.getHours())}:${two(date.getMinutes())}${seconds}`
}
