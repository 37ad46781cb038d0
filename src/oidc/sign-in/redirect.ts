/** Redirects of browsers: to the requested page, or to the canonical host, that of redirect_uri. */

import { isNavigation } from './browser.ts'
import type { Context } from '../context.ts'
import { sessionOfCookie } from '../session/end-session.ts'
import { isAtNonCanonicalHost, movedCookie } from './host.ts'
import type { PublicRequest, PublicResponse } from '../../model/route.ts'
import type { Provider } from '../provider/provider.ts'
import { returnAddress } from './return-to.ts'
import { clearSignInCookie, type PendingSignIn } from './state.ts'

/** No referrer: the current URL may contain the authorization response. @param cookies values for Set-Cookie */
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
  return redirectTo(canonicalAddress(provider, returnTo), [movedCookie()])
}

/**
 * Redirects a callback at another host name, which carries no cookie, to the canonical host. Null when the host is
 * canonical or ambiguous.
 */
export function callbackAtCanonicalHost(
  { providers }: Context,
  { path, query, method, rawHeaders }: PublicRequest,
): PublicResponse | null {
  const all = [...providers.values()].map(({ tenant }) => tenant.oidc.redirectUri)
  const [canonical, ...others] = new Set(all.filter((each) => new URL(each).pathname === path))
  if (canonical === undefined || others.length > 0 || !isNavigation(method, rawHeaders)) return null
  if (!isAtNonCanonicalHost(rawHeaders, canonical)) return null
  const url = new URL(canonical)
  url.search = query
  return redirectTo(url.href, [movedCookie()])
}

/**
 * Redirects a browser with a late or repeated callback to the requested page if it is already signed in at the tenant,
 * for example in another tab. Otherwise null.
 *
 * @param cookies the values of all Cookie header lines
 */
export async function signedInAlready(
  context: Context,
  { provider, returnTo, state }: PendingSignIn,
  { method, rawHeaders }: PublicRequest,
  cookies: readonly string[],
): Promise<PublicResponse | null> {
  if (returnTo === null || !isNavigation(method, rawHeaders)) return null
  const session = await sessionOfCookie(context, cookies)
  if (session === null || session.tenant !== provider.tenant.id || session.endedAt !== null) return null
  if (!(context.now() < session.expiresAt)) return null
  return redirectTo(canonicalAddress(provider, returnTo), [clearSignInCookie(state)])
}
