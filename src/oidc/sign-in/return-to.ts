/**
 * Validates the page after sign-in: a path of the gateway's own origin that no parser interprets differently
 * (open redirects).
 */

/** The most characters. */
const MAX_LENGTH = 2048
/**
 * Visible ASCII, without the backslash, which browsers read as a slash, and characters that URLs must not
 * contain.
 */
const PLAIN = /^\/[\x21-\x7e]*$/
const FORBIDDEN = /[\\"<>^`{|}]/
/** Encoded slashes, backslashes and control characters, also multiply encoded. */
const ENCODED = /%(?:25)*(?:2f|5c|[01][0-9a-f]|7f)/i
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i
/** `.` and `..`, plain or encoded. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i
/** The sign-in endpoints, after their prefix, which are not valid targets. */
const SIGN_IN_PATH = '/auth/oidc/'

/** Like ENCODED, but allows a singly encoded slash, for paths that the router has accepted. */
const ENCODED_BUT_SLASH = /%(?:25)*(?:5c|[01][0-9a-f]|7f)|%(?:25)+2f/i
/** Characters that browsers send unencoded in a query and the gateway accepts there. */
const RAW_IN_QUERY = /[\x80-\xff^`{|}]/g

/**
 * The requested page as a valid target of a redirect.
 *
 * @param target path and query as received, with a matching route
 * @param prefix the prefix of the sign-in endpoints
 * @returns null for an unsafe target
 */
export function pageOf(target: string, prefix: string): string | null {
  // The path must also be safe for a parser that decodes %2F.
  if (safePath(target.split('?', 1)[0]?.replace(/%2f/gi, '/') ?? '', ENCODED, prefix) === null) return null
  const at = target.indexOf('?')
  if (at < 0) return safePath(target, ENCODED_BUT_SLASH, prefix)
  const escaped = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`
  return safePath(
    target.slice(0, at) + target.slice(at).replace(RAW_IN_QUERY, escaped),
    ENCODED_BUT_SLASH,
    prefix,
  )
}

/** @returns the text if it is a safe path, with optional query and fragment; otherwise null */
export function safeReturnTo(text: string, prefix: string): string | null {
  return safePath(text, ENCODED, prefix)
}

function safePath(text: string, encoded: RegExp, prefix: string): string | null {
  if (text.length > MAX_LENGTH || !PLAIN.test(text) || FORBIDDEN.test(text) || BAD_ESCAPE.test(text))
    return null
  const path = text.split(/[?#]/, 1)[0] ?? ''
  if (path.includes('//') || DOT_SEGMENT.test(path) || encoded.test(path)) return null
  if (`${path}/`.toLowerCase().startsWith(`${prefix}${SIGN_IN_PATH}`.toLowerCase())) return null
  return text
}

/**
 * The URL for Location. It is absolute, so that it does not depend on the browser's resolution, and its
 * origin is checked once more.
 */
export function returnAddress(path: string, origin: string): string {
  const url = URL.parse(path, origin)
  return url !== null && url.origin === origin ? url.href : `${origin}/`
}
