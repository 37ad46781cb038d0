/** Keeps the session cookies of the gateway away from upstreams, and theirs away from the gateway. */

import { withoutOuterBlanks } from '../lib/optional-whitespace.ts'

/** The common prefix of all gateway cookies. In lower case: browsers differ on the case of `__Host-`. */
const COOKIE_PREFIX = '__host-seatgate'
/**
 * A cookie pair, or a whole Set-Cookie, that names a gateway cookie. Also matches after an empty name: a
 * browser may send `=__Host-seatgate_session=x` without the first `=` the next time, and some parsers skip
 * it.
 */
const GATEWAY_COOKIE = /^[\s=]*__host-seatgate/i

/**
 * The value of Cookie without gateway cookies, all others byte for byte; null if none is left. Splits at each
 * `;`, also inside quotes: RFC 6265 has no quoting, and a lenient parser must not find a gateway cookie
 * either.
 */
export function withoutSession(cookie: string): string | null {
  if (!cookie.toLowerCase().includes(COOKIE_PREFIX)) return cookie
  const others = cookie.split(';').filter((pair) => !GATEWAY_COOKIE.test(pair))
  const rest = withoutOuterBlanks(others.join(';'))
  return rest === '' ? null : rest
}

/**
 * Whether an upstream's Set-Cookie may pass: neither a gateway cookie nor a nameless one. A browser sends
 * only the value of a nameless cookie, which can imitate any other cookie (RFC 6265bis, section 5.7).
 */
export function maySet(setCookie: string): boolean {
  const [pair = ''] = setCookie.split(';', 1)
  return pair.slice(0, Math.max(0, pair.indexOf('='))).trim() !== '' && !GATEWAY_COOKIE.test(pair)
}
