/**
 * A sign-in under way: what was sent to the provider and must come back, kept where it can be taken once, for ten
 * minutes, by the browser that began it. Used by `login.ts` and `callback.ts`.
 *
 * The key is a hash of the state and of the browser's cookie together: another browser's callback finds nothing, and
 * uses nothing up. The value is sealed: who can write where it is kept can't make one up.
 */

import { isJsonObject, parseJson } from '../json.ts'
import type { Context } from './context.ts'
import { cookieValues, setCookie, signInCookie, signInCookiesIn, SLOTS } from './cookies.ts'
import { newSecret, sha256 } from './handle.ts'
import type { Provider } from './provider.ts'
import { open, seal } from './seal.ts'

/** ms */
export const STATE_LIFETIME = 600_000

export interface Begun {
  readonly state: string
  readonly nonce: string
  /** PKCE (RFC 7636, section 4.1): 256 bits. */
  readonly verifier: string
  /** For Set-Cookie. */
  readonly cookie: string
}

export interface Taken {
  readonly provider: Provider
  readonly state: string
  readonly nonce: string
  readonly verifier: string
  readonly returnTo: string | null
}

/** Rejects when it can't be kept. */
export async function beginState(
  { ephemeral, now }: Context,
  { tenant }: Provider,
  returnTo: string | null,
  cookies: readonly string[],
): Promise<Begun> {
  const state = newState(cookies)
  const [nonce, verifier, browser] = [newSecret(), newSecret(), newSecret()]
  const { issuer, clientId, redirectUri } = tenant.oidc
  const expiresAt = now() + STATE_LIFETIME
  const value = JSON.stringify({ issuer, clientId, redirectUri, nonce, verifier, returnTo, expiresAt })
  const key = keyOf(state, browser)
  const sealed = seal(value, tenant.token.secrets, ['sign-in', tenant.id, key])
  await ephemeral.put(key, `${tenant.id} ${sealed}`, STATE_LIFETIME)
  return { state, nonce, verifier, cookie: setCookie(signInCookie(state), browser, STATE_LIFETIME / 1000) }
}

/** Of the sign-ins that the browser shows to be under way, none loses its cookie to this one while a slot is free. */
function newState(cookies: readonly string[]): string {
  const taken = signInCookiesIn(cookies)
  let state = newSecret()
  while (taken.size < SLOTS && taken.has(signInCookie(state))) state = newSecret()
  return state
}

/** Null when this browser began no such sign-in, it is over, or the tenant's configuration is another one since. */
export async function takeState(
  context: Context,
  state: string,
  cookieLines: readonly string[],
): Promise<Taken | null> {
  const [browser, ...others] = cookieValues(cookieLines, signInCookie(state))
  if (browser === undefined || others.length > 0) return null
  const key = keyOf(state, browser)
  const kept = await context.ephemeral.take(key)
  if (kept === null) return null
  const [tenant = '', sealed = ''] = kept.split(' ', 2)
  const provider = context.providers.get(tenant)
  const value =
    provider === undefined ? null : open(sealed, provider.tenant.token.secrets, ['sign-in', tenant, key])
  if (provider === undefined || value === null) return null
  return read(provider, state, value, context.now())
}

function read(provider: Provider, state: string, value: string, now: number): Taken | null {
  const parsed = parseJson(value)
  if ('fault' in parsed || !isJsonObject(parsed.value)) return null
  const { issuer, clientId, redirectUri, nonce, verifier, returnTo = null, expiresAt } = parsed.value
  const { oidc } = provider.tenant
  if (issuer !== oidc.issuer || clientId !== oidc.clientId || redirectUri !== oidc.redirectUri) return null
  if (typeof nonce !== 'string' || typeof verifier !== 'string' || typeof expiresAt !== 'number') return null
  if (!(now < expiresAt) || (returnTo !== null && typeof returnTo !== 'string')) return null
  return { provider, state, nonce, verifier, returnTo }
}

/** Takes the cookie away once its sign-in is over. */
export function forgetBrowser(state: string): string {
  return setCookie(signInCookie(state), '', 0)
}

function keyOf(state: string, browser: string): string {
  return `sign-in:${Buffer.from(sha256(`${state}.${browser}`)).toString('base64url')}`
}
