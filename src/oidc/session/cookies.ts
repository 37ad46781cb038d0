/**
 * The gateway's cookies: the session, and one for each pending sign-in of the browser. All are `__Host-`
 * (this host only, all paths, https), HttpOnly and SameSite=Lax: a cross-site request carries them only when
 * it is a top-level navigation, such as the provider's redirect.
 *
 * `proxy/reserved-cookies.ts` never forwards a cookie whose name begins with `__Host-seatgate`.
 */

import { withoutOuterBlanks } from '../../lib/optional-whitespace.ts'

export const SESSION_COOKIE = '__Host-seatgate_session'
const SIGN_IN_COOKIE = '__Host-seatgate_signin_'

/**
 * The characters of the state in the cookie's name: 72 bits, so that the sign-ins of a browser have different
 * cookies.
 */
const STATE_CHARACTERS = 12

export function signInCookieName(state: string): string {
  return `${SIGN_IN_COOKIE}${state.slice(0, STATE_CHARACTERS)}`
}

/** The state with the beginning that gives its cookie this name. The rest, 184 bits, stays random. */
export function stateNamed(state: string, name: string): string {
  return name.slice(SIGN_IN_COOKIE.length) + state.slice(STATE_CHARACTERS)
}

const SIGN_IN = new RegExp(`(?:^|;)[ \\t]*(${SIGN_IN_COOKIE}[A-Za-z0-9_-]{0,64})[ \\t]*=([^;]*)`, 'g')

/** The sign-in cookies of the Cookie lines, in order. */
export function signInCookiesIn(lines: readonly string[]): { name: string; value: string }[] {
  return lines.flatMap((line) =>
    [...line.matchAll(SIGN_IN)].map(([, name = '', value = '']) => ({
      name,
      value: withoutOuterBlanks(value),
    })),
  )
}

/**
 * @param maxAge seconds; 0 removes the cookie
 * @returns a value for Set-Cookie
 */
export function setCookie(name: string, value: string, maxAge: number): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; Secure; HttpOnly; SameSite=Lax`
}

/**
 * The values of the named cookie, in order. More than one is an attack or a mistake; the caller must refuse
 * it.
 *
 * Whitespace other than spaces and tabs, which browsers do not store, is part of a name: to a browser,
 * `\xa0__Host-x` has no prefix, and any subdomain may set it for this host.
 */
export function cookieValues(lines: readonly string[], name: string): string[] {
  const values: string[] = []
  for (const line of lines) {
    // A fast path: most requests have no such cookie.
    if (!line.includes(name)) continue
    for (const pair of line.split(';')) {
      const at = pair.indexOf('=')
      if (at > 0 && withoutOuterBlanks(pair.slice(0, at)) === name)
        values.push(withoutOuterBlanks(pair.slice(at + 1)))
    }
  }
  return values
}

/**
 * The origins of the pages that may act with a session cookie: the origin of `redirect_uri` in the
 * configuration of the session's tenant, at which browsers reach the gateway. The browser has the cookie of
 * this host alone. Neither the Host of the request nor a header of a proxy counts: they may have another
 * name, or another scheme.
 *
 * @param text the value of the cookie
 *
 * @param origins the origins by tenant
 * @returns all of them if the cookie names no such tenant: it authenticates no caller
 */
export function ownOriginsOf(text: string, origins: ReadonlyMap<string, string>): readonly string[] {
  const own = origins.get(text.split('.', 1)[0] ?? '')
  return own === undefined ? [...origins.values()] : [own]
}

/** The most cookies that one response removes; the next response removes further ones. */
const MAX_REMOVED = 64
/**
 * A browser that restores its tabs sends their requests at once, none with the cookies of the others: no
 * response can remove them. If there is room for at most so many cookies, they therefore share as many names.
 */
const MAX_SHARED = 8

/** The place for the cookie of a new sign-in. */
export interface CookieRoom {
  /** The name of the cookie that it replaces; null: it has a name of its own. */
  readonly name: string | null
  /** Values for Set-Cookie. */
  readonly removed: readonly string[]
}

/**
 * Bounds the pending sign-ins of one browser: it sends their cookies with every request, and too many of them
 * exceed what proxies take of a header. The oldest give way. The new cookie replaces one of them by its name,
 * as some proxies pass on a single Set-Cookie.
 *
 * @param length characters of the new cookie's value
 * @param bytes limit of all sign-in cookies together
 */
export function roomForSignIn(cookieLines: readonly string[], length: number, bytes: number): CookieRoom {
  const own = pairLength(OWN_NAME, length)
  const cookies = signInCookiesIn(cookieLines).sort((a, b) => startedAt(b) - startedAt(a))
  let size = own
  let kept = 0
  for (const { name, value } of cookies) {
    size += pairLength(name.length, value.length)
    if (size > bytes) break
    kept++
  }
  const old = cookies.slice(kept).map(({ name }) => name)
  const replaced = old.findLast((name) => name.length === OWN_NAME)
  const names = cookies.map(({ name }) => name)
  return {
    name: replaced ?? sharedName(names, Math.floor(bytes / own)),
    removed: old
      .filter((name) => name !== replaced)
      .slice(0, MAX_REMOVED)
      .map((name) => setCookie(name, '', 0)),
  }
}

const OWN_NAME = SIGN_IN_COOKIE.length + STATE_CHARACTERS

/** The characters in the Cookie of a request: `name=value; `. */
const pairLength = (name: number, value: number) => name + value + '=; '.length

/**
 * One of the shared names, which the browser does not have yet.
 *
 * @param room cookies of this size that have room
 */
function sharedName(present: readonly string[], room: number): string | null {
  if (room > MAX_SHARED) return null
  const names = Array.from({ length: Math.max(1, room) }, (_, at) => `${SIGN_IN_COOKIE}large-place${at}`)
  const free = names.filter((name) => !present.includes(name))
  return free[Math.floor(Math.random() * free.length)] ?? null
}

/** The time in the cookie, not verified: a browser that forges it only removes its own cookies. */
function startedAt({ value }: { readonly value: string }): number {
  const time = Number.parseInt(value.split('.', 2)[1] ?? '', 36)
  return Number.isNaN(time) ? 0 : time
}
