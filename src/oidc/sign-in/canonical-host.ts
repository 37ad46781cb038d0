/**
 * Redirects of browsers to the requested page, or to the canonical host, which redirect_uri has. Cookies
 * belong to a host: a sign-in that starts at another host name can't complete.
 */

import { headerLines, isNavigation } from './browser.ts'
import type { Context } from '../context.ts'
import { cookieValues, setCookie } from '../session/cookies.ts'
import { sessionOfCookie } from '../session/end-session.ts'
import type { PublicRequest, PublicResponse } from '../../model/route.ts'
import type { Provider } from '../provider/provider.ts'
import { returnAddress } from './return-to.ts'
import { clearSignInCookie, type PendingSignIn } from './state.ts'

/**
 * Marks a browser that was just redirected to the canonical host. It prevents a redirect loop if a proxy
 * before the gateway rewrites Host.
 */
const MOVED = '__Host-seatgate_moved'
const movedCookie = setCookie(MOVED, '1', 10)

/**
 * A redirect without a referrer: the current URL may contain the authorization response.
 *
 * @param cookies values for Set-Cookie
 */
export function redirectTo(location: string, cookies: readonly string[]): PublicResponse {
  const headers = [...setCookies(cookies), 'Location', location, 'Referrer-Policy', 'no-referrer']
  return { status: 303, headers }
}

export function setCookies(values: readonly string[]): string[] {
  return values.flatMap((value) => ['Set-Cookie', value])
}

/** The absolute URL of a path at the canonical host. */
export function canonicalAddress({ tenant }: Provider, returnTo: string | null): string {
  return returnAddress(returnTo ?? '/', new URL(tenant.oidc.redirectUri).origin)
}

/** Redirects to the path at the canonical host, where the sign-in starts. */
export function redirectToCanonicalHost(provider: Provider, returnTo: string | null): PublicResponse {
  return redirectTo(canonicalAddress(provider, returnTo), [movedCookie])
}

/**
 * Redirects a callback at another host name, which carries no cookie, to the canonical host. Null if the
 * host is canonical or ambiguous.
 */
export function callbackAtCanonicalHost(
  { providers, prefix }: Context,
  { path, query, method, rawHeaders }: PublicRequest,
): PublicResponse | null {
  const all = [...providers.values()].map(({ tenant }) => tenant.oidc.redirectUri)
  const [canonical, ...others] = new Set(all.filter((each) => new URL(each).pathname === prefix + path))
  if (canonical === undefined || others.length > 0 || !isNavigation(method, rawHeaders)) return null
  if (!isAtNonCanonicalHost(rawHeaders, canonical)) return null
  const url = new URL(canonical)
  url.search = query
  return redirectTo(url.href, [movedCookie])
}

/**
 * Redirects a browser with a late or repeated callback to the requested page if it is already signed in at
 * the tenant, for example in another tab. Otherwise null.
 */
export async function signedInAlready(
  context: Context,
  { provider, returnTo, state }: PendingSignIn,
  { method, rawHeaders }: PublicRequest,
): Promise<PublicResponse | null> {
  if (returnTo === null || !isNavigation(method, rawHeaders)) return null
  const session = await sessionOfCookie(context, rawHeaders)
  if (session === null || session.tenant !== provider.tenant.id || session.endedAt !== null) return null
  if (!(context.now() < session.expiresAt)) return null
  return redirectTo(canonicalAddress(provider, returnTo), [clearSignInCookie(state)])
}

/**
 * Whether the request's host differs from that of `canonical`, and this browser has not just been redirected.
 *
 * @param canonical a URL
 */
export function isAtNonCanonicalHost(rawHeaders: readonly string[], canonical: string): boolean {
  const canonicalName = hostnameOf(new URL(canonical).host)
  const forwarded = forwardedHosts(rawHeaders)
  if (forwarded === null) return false
  const names = [...headerLines(rawHeaders, 'host'), ...forwarded].map(hostnameOf)
  if (names.length === 0 || names.includes(null) || names.includes(canonicalName)) return false
  return cookieValues(headerLines(rawHeaders, 'cookie'), MOVED).length === 0
}

/**
 * The hosts in X-Forwarded-Host and Forwarded (RFC 7239). Accepted from any client, because they only avoid a
 * redirect. Null for a list longer than any chain of proxies: parsing each element as a URL takes
 * microseconds.
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

/** The host name in lower case, without a port and a trailing dot; null: it is invalid. */
function hostnameOf(host: string): string | null {
  const url = /[/?#@\\]/.test(host) ? null : URL.parse(`http://${host.trim()}`)
  return url === null ? null : url.hostname.replace(/\.$/, '')
}
