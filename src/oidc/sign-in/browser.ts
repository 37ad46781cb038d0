/**
 * Reads from request headers whether the request is a navigation, and whether a page of the gateway's origin
 * sent it.
 */

import type { BrowserContext } from '../../model/authorization-request.ts'
import type { CorsPolicy } from '../../model/cors.ts'

/**
 * The values of all lines of a header, in order.
 *
 * @param rawHeaders name, value, …
 * @param wanted the name in lower case
 */
export function headerLines(rawHeaders: readonly string[], wanted: string): string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === wanted) values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}

/**
 * Whether a browser navigates to a page, so that a redirect to sign-in is useful. False for programs and for
 * requests that a page sends in the background, which can't show a sign-in page.
 */
export function isNavigation(method: string, rawHeaders: readonly string[]): boolean {
  return method === 'GET' && acceptsPages(rawHeaders)
}

/** Whether a browser shows the response as a page, after a GET or a form. */
export function acceptsPages(rawHeaders: readonly string[]): boolean {
  const mode = headerLines(rawHeaders, 'sec-fetch-mode')
  if (mode.length > 0 && (mode.length > 1 || mode[0] !== 'navigate')) return false
  const ranges = headerLines(rawHeaders, 'accept')
    .join(',')
    .split(',', MAX_RANGES + 1)
  return ranges.length <= MAX_RANGES && ranges.some(takesHtml)
}

/** The most media ranges of Accept. Browsers send fewer than ten. */
const MAX_RANGES = 64
/** Weight 0: not acceptable (RFC 9110, section 12.4.2). */
const ZERO_WEIGHT = /;[ \t]*q=0(?:\.0*)?[ \t]*(?:;|$)/i

function takesHtml(range: string): boolean {
  const end = range.indexOf(';')
  const type = (end < 0 ? range : range.slice(0, end)).trim()
  return type.toLowerCase() === 'text/html' && !ZERO_WEIGHT.test(range)
}

/** Safe methods (RFC 9110, section 9.2.1). */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a cookie is accepted as a credential. For unsafe methods and WebSockets only a page of the
 * gateway's own origin is accepted, because browsers attach cookies to cross-site requests (CSRF); and a page
 * of an origin that the route table lists in `cors` with credentials.
 *
 * Browsers send Origin with all of these. If both Origin and Sec-Fetch-Site are present, both must match.
 */
export function isCookieAccepted(
  { method, rawHeaders, upgrade }: BrowserContext,
  ownOrigin: string,
  cors: CorsPolicy | null = null,
): boolean {
  if ((SAFE.has(method) && !upgrade) || isSameOrigin(rawHeaders, ownOrigin)) return true
  return cors !== null && isTrustedOrigin(rawHeaders, cors)
}

/**
 * Whether a page of a listed origin on the same site sent the request. Other sites never send the cookie
 * (SameSite=Lax): a request that claims to come from one is not accepted.
 */
function isTrustedOrigin(rawHeaders: readonly string[], cors: CorsPolicy): boolean {
  const [origin, ...others] = headerLines(rawHeaders, 'origin')
  const site = headerLines(rawHeaders, 'sec-fetch-site')
  if (origin === undefined || others.length > 0 || site.length > 1) return false
  return cors.trusts(origin) && (site[0] ?? 'same-site') === 'same-site'
}

/** Whether a request with this method may change something. */
export function isChange(method: string): boolean {
  return !SAFE.has(method)
}

/**
 * Whether a page of one of these origins sent the request, by its Origin: Sec-Fetch-Site alone is not enough,
 * but must not say otherwise.
 */
export function hasOwnOrigin(rawHeaders: readonly string[], own: readonly string[]): boolean {
  const [origin] = headerLines(rawHeaders, 'origin')
  return origin !== undefined && own.includes(origin) && isSameOrigin(rawHeaders, origin)
}

export function isSameOrigin(rawHeaders: readonly string[], ownOrigin: string): boolean {
  const origin = headerLines(rawHeaders, 'origin')
  const site = headerLines(rawHeaders, 'sec-fetch-site')
  if (origin.length > 1 || site.length > 1 || origin.length + site.length === 0) return false
  return (origin[0] ?? ownOrigin) === ownOrigin && (site[0] ?? 'same-origin') === 'same-origin'
}
