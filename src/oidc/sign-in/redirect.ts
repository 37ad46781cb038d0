/** Where a browser goes on: to its page, or to the host that the provider knows. Called by the endpoints. */

import { isNavigation } from './browser.ts'
import type { Context } from '../context.ts'
import { sessionOfCookie } from '../session/end-session.ts'
import { isAtOtherHost, movedCookie } from './host.ts'
import type { SignInResponse, SignInRequest } from '../ports.ts'
import type { Provider } from '../provider/provider.ts'
import { returnAddress } from './return-to.ts'
import { forgetBrowser, type Shown } from './state.ts'

/** The address of the page that it leaves may have the provider's answer in it. @param cookies for Set-Cookie */
export function goOn(location: string, cookies: readonly string[]): SignInResponse {
  const headers = [...setCookies(cookies), 'Location', location, 'Referrer-Policy', 'no-referrer']
  return { status: 303, headers }
}

export function setCookies(values: readonly string[]): string[] {
  return values.flatMap((value) => ['Set-Cookie', value])
}

/** A path of the gateway, at the host that the tenant's provider sends browsers back to. */
export function homeAddress({ tenant }: Provider, returnTo: string | null): string {
  return returnAddress(returnTo ?? '/', new URL(tenant.oidc.redirectUri).origin)
}

/** To the same path at that host. The sign-in begins there. */
export function goHome(provider: Provider, returnTo: string | null): SignInResponse {
  return goOn(homeAddress(provider, returnTo), [movedCookie()])
}

/**
 * A callback that came to another host name than the provider is told, where the browser shows no cookie: to the right
 * one. Null when it is there, or when several could be the right one.
 */
export function callbackAtHome(
  { providers }: Context,
  { path, query, method, rawHeaders }: SignInRequest,
): SignInResponse | null {
  const all = [...providers.values()].map(({ tenant }) => tenant.oidc.redirectUri)
  const [home, ...others] = new Set(all.filter((each) => new URL(each).pathname === path))
  if (home === undefined || others.length > 0 || !isNavigation(method, rawHeaders)) return null
  if (!isAtOtherHost(rawHeaders, home)) return null
  const url = new URL(home)
  url.search = query
  return goOn(url.href, [movedCookie()])
}

/**
 * A browser whose sign-in came too late or twice, but that is signed in at the tenant, as by another tab: to the page
 * where it was going. Null for any other.
 *
 * @param cookies the values of all Cookie header lines
 */
export async function signedInAlready(
  context: Context,
  { provider, returnTo, state }: Shown,
  { method, rawHeaders }: SignInRequest,
  cookies: readonly string[],
): Promise<SignInResponse | null> {
  if (returnTo === null || !isNavigation(method, rawHeaders)) return null
  const session = await sessionOfCookie(context, cookies)
  if (session === null || session.tenant !== provider.tenant.id || session.endedAt !== null) return null
  if (!(context.now() < session.expiresAt)) return null
  return goOn(homeAddress(provider, returnTo), [forgetBrowser(state)])
}
