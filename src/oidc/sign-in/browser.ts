/**
 * What a request's headers tell about the browser that sent it: whether somebody is navigating, and whether the page
 * that made it is our own. Pure; called by the pipeline, by authentication and by the endpoints here.
 */

/** All values of a header, one a line, in order. @param rawHeaders name, value, … */
export function headerLines(rawHeaders: readonly string[], wanted: string): string[] {
  const values: string[] = []
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    if (rawHeaders[at]?.toLowerCase() === wanted) values.push(rawHeaders[at + 1] ?? '')
  }
  return values
}

/**
 * Somebody goes to a page with a browser, and may be sent on to sign in. A program's request is not, nor is one that a
 * page makes in the background: neither could show a sign-in page.
 */
export function isNavigation(method: string, rawHeaders: readonly string[]): boolean {
  return method === 'GET' && showsPages(rawHeaders)
}

/** The answer is shown to a user, by GET or as the answer to a form. */
export function showsPages(rawHeaders: readonly string[]): boolean {
  const mode = headerLines(rawHeaders, 'sec-fetch-mode')
  if (mode.length > 0 && (mode.length > 1 || mode[0] !== 'navigate')) return false
  const ranges = headerLines(rawHeaders, 'accept')
    .join(',')
    .split(',', MOST_RANGES + 1)
  return ranges.length <= MOST_RANGES && ranges.some(takesHtml)
}

/** Media ranges of Accept: browsers send fewer than ten. Who sends more is a program. */
const MOST_RANGES = 64
/** A weight that says never (RFC 9110, section 12.4.2). */
const NEVER = /;[ \t]*q=0(?:\.0*)?[ \t]*(?:;|$)/i

function takesHtml(range: string): boolean {
  const end = range.indexOf(';')
  const type = (end < 0 ? range : range.slice(0, end)).trim()
  return type.toLowerCase() === 'text/html' && !NEVER.test(range)
}

/** Methods that change nothing (RFC 9110, section 9.2.1), as far as a gateway can know. */
const SAFE = new Set(['GET', 'HEAD', 'OPTIONS'])

/**
 * Whether a cookie counts as a credential on this request. On one that may change something, or that opens a WebSocket,
 * only if a page of our own origin made it: cookies go along with requests that other sites make (CSRF).
 *
 * Browsers send Origin with each of these. Where both headers are there, both must say so.
 */
export function cookieCounts(
  request: { readonly method: string; readonly rawHeaders: readonly string[]; readonly upgrade: boolean },
  ownOrigin: string,
): boolean {
  return (SAFE.has(request.method) && !request.upgrade) || isSameOrigin(request.rawHeaders, ownOrigin)
}

export function isSameOrigin(rawHeaders: readonly string[], ownOrigin: string): boolean {
  const origin = headerLines(rawHeaders, 'origin')
  const site = headerLines(rawHeaders, 'sec-fetch-site')
  if (origin.length > 1 || site.length > 1 || origin.length + site.length === 0) return false
  return (origin[0] ?? ownOrigin) === ownOrigin && (site[0] ?? 'same-origin') === 'same-origin'
}
