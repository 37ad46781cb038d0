/**
 * Where a browser goes after sign-in: a path of the gateway's own origin, and nothing that any reader could take for
 * anything else. Pure.
 */

/** Characters. */
const MAX = 2048
/** Visible ASCII but for the backslash, which browsers read as a slash, and for what has no place in a URL. */
const PLAIN = /^\/[\x21-\x7e]*$/
const NEVER = /[\\"<>^`{|}]/
/** Slash, backslash, NUL and the like, encoded once or more: for whoever decodes before they look. */
const ENCODED = /%(?:25)*(?:2f|5c|[01][0-9a-f]|7f)/i
const BAD_ESCAPE = /%(?![0-9a-f]{2})/i
/** `.` and `..`, plain or encoded. */
const DOT_SEGMENT = /\/(?:\.|%2e){1,2}(?:\/|$)/i
/** The endpoints of sign-in itself: nobody wants to come back to them. */
const OURS = '/auth/oidc/'

/** The same but the slash, once encoded: for a path that the router has let through. */
const ENCODED_BUT_SLASH = /%(?:25)*(?:5c|[01][0-9a-f]|7f)|%(?:25)+2f/i
/** What browsers send in a query as it is, and what the gateway lets pass there. */
const RAW_IN_QUERY = /[\x80-\xff^`{|}]/g

/**
 * The page that a browser asked for, as the address of the same page.
 *
 * @param target as it came: a route was found for it
 * @returns null where it is none to come back to
 */
export function pageOf(target: string): string | null {
  // It has to be a path that is safe in the eyes of a reader who takes an encoded slash for a slash, too.
  if (safePath(target.split('?', 1)[0]?.replace(/%2f/gi, '/') ?? '', ENCODED) === null) return null
  const at = target.indexOf('?')
  if (at < 0) return safePath(target, ENCODED_BUT_SLASH)
  const escaped = (byte: string) => `%${byte.charCodeAt(0).toString(16).toUpperCase()}`
  return safePath(target.slice(0, at) + target.slice(at).replace(RAW_IN_QUERY, escaped), ENCODED_BUT_SLASH)
}

/** The text itself if it is such a path, with query and fragment; else null. */
export function safeReturnTo(text: string): string | null {
  return safePath(text, ENCODED)
}

function safePath(text: string, encoded: RegExp): string | null {
  if (text.length > MAX || !PLAIN.test(text) || NEVER.test(text) || BAD_ESCAPE.test(text)) return null
  const path = text.split(/[?#]/, 1)[0] ?? ''
  if (path.includes('//') || DOT_SEGMENT.test(path) || encoded.test(path)) return null
  if (`${path}/`.toLowerCase().startsWith(OURS)) return null
  return text
}

/**
 * The address for Location. Absolute, so that nothing depends on how a browser resolves it; and resolved once here, so
 * that no path that slipped through leads away.
 */
export function returnAddress(path: string, origin: string): string {
  const url = URL.parse(path, origin)
  return url !== null && url.origin === origin ? url.href : `${origin}/`
}
