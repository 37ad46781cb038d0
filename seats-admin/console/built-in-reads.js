/**
 * The decisions on reads of the gateway's own endpoints. The console leaves them out of its lists, as its own
 * reads would hide the decisions on all other requests.
 */

/** Below `api.prefix`. */
const API =
  /^\/v1\/(?:seats|api-keys|users|sessions|blocks|audit|access|routes|fleet|decisions|canary|revocations|grants|scim|tables|openapi\.json)(?:\/|$)/
/** Below `api.auth_prefix`. */
const AUTH = /^\/(?:auth\/oidc|_seatgate\/console|\.well-known)(?:\/|$)/
/** Questions that are too long for a URL. */
const ASKS = /\/v1\/(?:seats\/plan|access\/explain|tables\/plan)$/

/**
 * One that is refused is news.
 *
 * @param {Pick<import('./answers.d.ts').Decision, 'code' | 'method' | 'route'>} decision
 * @param {{ readonly api: string, readonly auth: string }} place prefixes of the endpoints
 */
export function isBuiltInRead({ code, method, route }, { api, auth }) {
  const path = route?.split(' ')[1]
  if (code !== 'allow' || path === undefined) return false
  const isRead = method === 'GET' || method === 'HEAD' || (method === 'POST' && ASKS.test(path))
  return isRead && (isBelow(path, api, API) || isBelow(path, auth, AUTH))
}

/**
 * @param {string} path
 * @param {string} prefix
 * @param {RegExp} own
 */
function isBelow(path, prefix, own) {
  return path.startsWith(prefix) && own.test(path.slice(prefix.length))
}
