/** Keeps the sign-in session between the browser and the gateway. */

/** Every cookie of ours begins so. In lower case: browsers differ on whether `__Host-` has one. */
const COOKIE_PREFIX = '__host-seatgate'
/**
 * Also behind an empty name: a browser may send `=__Host-seatgate_session=x` without the first `=` the next time, and
 * some readers pass over it.
 */
const GATEWAY_COOKIE = /^[\s=]*__host-seatgate/i

/**
 * The value of Cookie without our cookies, the others byte for byte; null when nothing is left.
 * Parted at each `;`, quoted or not: RFC 6265 knows no quoting, and a laxer reader must not find ours either.
 */
export function withoutSession(cookie: string): string | null {
  if (!cookie.toLowerCase().includes(COOKIE_PREFIX)) return cookie
  const kept = cookie.split(';').filter((pair) => !isGatewayCookie(pair))
  const rest = kept.join(';').trim()
  return rest === '' ? null : rest
}

/** Whether a cookie pair, or a whole Set-Cookie, is for a cookie of ours. */
function isGatewayCookie(pair: string): boolean {
  return GATEWAY_COOKIE.test(pair)
}

/**
 * Whether an upstream's Set-Cookie may pass: for no cookie of ours, and for none without a name. A browser sends the
 * value of a nameless cookie alone, so that it can stand for any other cookie (RFC 6265bis, section 5.7).
 */
export function maySet(setCookie: string): boolean {
  const [pair = ''] = setCookie.split(';', 1)
  return pair.slice(0, Math.max(0, pair.indexOf('='))).trim() !== '' && !isGatewayCookie(pair)
}
