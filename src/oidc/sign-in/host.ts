/**
 * Whether a browser has come to the host that its provider sends it back to. Cookies belong to a host: a sign-in that
 * begins at another host name could not be finished. Pure.
 */

import { cookieValues, setCookie } from '../session/cookies.ts'
import { headerLines } from './browser.ts'

/**
 * Says that the gateway has just sent this browser to the right host. A proxy in front that writes another Host would
 * make the browser come back in a circle otherwise.
 */
const MOVED = '__Host-seatgate_moved'
/** Seconds. */
const MOVED_LIFETIME = 10

/** A value for Set-Cookie, along with a redirect to the right host. */
export function movedCookie(): string {
  return setCookie(MOVED, '1', MOVED_LIFETIME)
}

/** Whether the browser is to be sent to the host of `home`, which is not the one that the request names. */
export function isAtOtherHost(rawHeaders: readonly string[], home: string): boolean {
  const right = hostnameOf(new URL(home).host)
  const forwarded = forwardedHosts(rawHeaders)
  if (forwarded === null) return false
  const names = [...headerLines(rawHeaders, 'host'), ...forwarded].map(hostnameOf)
  if (names.length === 0 || names.includes(null) || names.includes(right)) return false
  return cookieValues(headerLines(rawHeaders, 'cookie'), MOVED).length === 0
}

/**
 * What a proxy says that the browser asked for. Believed from anybody, as it only spares a redirect. Null for a list that
 * is too long to be a chain of proxies: each element takes the URL parser some microseconds.
 */
function forwardedHosts(rawHeaders: readonly string[]): string[] | null {
  const told = headerLines(rawHeaders, 'x-forwarded-host').join(',')
  const forwarded = headerLines(rawHeaders, 'forwarded').join(',')
  if (told.length > MOST_CHARACTERS || forwarded.length > MOST_CHARACTERS) return null
  const hosts = told === '' ? [] : told.split(',')
  if (forwarded !== '')
    for (const [, host = ''] of forwarded.matchAll(/(?:^|[;,])[ \t]*host="?([^";,]*)/gi)) hosts.push(host)
  return hosts.length > MOST_HOSTS ? null : hosts
}

/** Of a chain of proxies: more than any has. */
const MOST_CHARACTERS = 4096
const MOST_HOSTS = 16

/** In lower case, without port and last dot; null for what is no host. */
function hostnameOf(host: string): string | null {
  const url = /[/?#@\\]/.test(host) ? null : URL.parse(`http://${host.trim()}`)
  return url === null ? null : url.hostname.replace(/\.$/, '')
}
