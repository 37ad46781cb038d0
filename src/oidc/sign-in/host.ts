/**
 * Detects requests to another host name than the canonical one, that of redirect_uri. Cookies belong to a host: a sign-in
 * started at another host name can't complete.
 */

import { cookieValues, setCookie } from '../session/cookies.ts'
import { headerLines } from './browser.ts'

/**
 * Marks a browser that was just redirected to the canonical host. It prevents a redirect loop behind a proxy that rewrites
 * Host.
 */
const MOVED = '__Host-seatgate_moved'
/** Seconds. */
const MOVED_LIFETIME = 10

/** A value for Set-Cookie, sent with a redirect to the canonical host. */
export function movedCookie(): string {
  return setCookie(MOVED, '1', MOVED_LIFETIME)
}

/** Whether the request's host is not that of `canonical`, and a redirect would help. @param canonical a URL */
export function isAtNonCanonicalHost(rawHeaders: readonly string[], canonical: string): boolean {
  const canonicalName = hostnameOf(new URL(canonical).host)
  const forwarded = forwardedHosts(rawHeaders)
  if (forwarded === null) return false
  const names = [...headerLines(rawHeaders, 'host'), ...forwarded].map(hostnameOf)
  if (names.length === 0 || names.includes(null) || names.includes(canonicalName)) return false
  return cookieValues(headerLines(rawHeaders, 'cookie'), MOVED).length === 0
}

/**
 * The hosts in X-Forwarded-Host and Forwarded (RFC 7239). Accepted from any client, because they only avoid a redirect.
 * Null for a list longer than any chain of proxies: parsing each element as a URL takes microseconds.
 */
function forwardedHosts(rawHeaders: readonly string[]): string[] | null {
  const xForwardedHost = headerLines(rawHeaders, 'x-forwarded-host').join(',')
  const forwarded = headerLines(rawHeaders, 'forwarded').join(',')
  if (xForwardedHost.length > MAX_CHARACTERS || forwarded.length > MAX_CHARACTERS) return null
  const hosts = xForwardedHost === '' ? [] : xForwardedHost.split(',')
  if (forwarded !== '')
    for (const [, host = ''] of forwarded.matchAll(/(?:^|[;,])[ \t]*host="?([^";,]*)/gi)) hosts.push(host)
  return hosts.length > MAX_HOSTS ? null : hosts
}

/** Limits of each header; no chain of proxies reaches them. */
const MAX_CHARACTERS = 4096
const MAX_HOSTS = 16

/** In lower case, without a port and a trailing dot; null for an invalid host. */
function hostnameOf(host: string): string | null {
  const url = /[/?#@\\]/.test(host) ? null : URL.parse(`http://${host.trim()}`)
  return url === null ? null : url.hostname.replace(/\.$/, '')
}
