/** Keeps the sign-in session between the browser and the gateway. Used by the header files of this folder. */

/** Every cookie of ours begins so. In lower case: browsers differ on whether `__Host-` has one. */
const OURS = '__host-seatgate'

/**
 * The value of Cookie without our cookies, the others byte for byte; null when nothing is left.
 * Parted at each `;`, quoted or not: RFC 6265 knows no quoting, and a laxer reader must not find ours either.
 */
export function withoutSession(cookie: string): string | null {
  if (!cookie.toLowerCase().includes(OURS)) return cookie
  const kept = cookie.split(';').filter((pair) => !isOurs(pair))
  const rest = kept.join(';').trim()
  return rest === '' ? null : rest
}

/** Whether a cookie pair, or a whole Set-Cookie, is for a cookie of ours. */
export function isOurs(pair: string): boolean {
  return pair.trimStart().slice(0, OURS.length).toLowerCase() === OURS
}
