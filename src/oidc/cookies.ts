/**
 * Our cookies: the session, and what binds a sign-in under way to the browser that began it. All `__Host-` (of this host
 * alone, whole host, https), HttpOnly, SameSite=Lax: sent along when the provider sends the browser back, and on no
 * other request that another site makes but a navigation.
 *
 * `proxy/cookies.ts` keeps every cookie that begins with `__Host-seatgate` between the browser and the gateway.
 */

export const SESSION_COOKIE = '__Host-seatgate_session'
const SIGN_IN_COOKIE = '__Host-seatgate_signin_'

/**
 * One slot a sign-in, so that several tabs can sign in at once; not many, so that nobody can fill a browser with cookies
 * until its requests are too large. Of two on one slot, as when they are begun at the same moment or all slots are taken,
 * the later wins, and the earlier has to begin again.
 */
export const SLOTS = 16

/** The cookie of a sign-in, by its state. */
export function signInCookie(state: string): string {
  let sum = 0
  for (const character of state) sum = (sum * 31 + character.charCodeAt(0)) % SLOTS
  return `${SIGN_IN_COOKIE}${sum}`
}

const SIGN_IN_NAME = new RegExp(
  `(?:^|;)[ \\t]*(${SIGN_IN_COOKIE}(?:${[...Array(SLOTS).keys()].join('|')}))[ \\t]*=`,
  'g',
)

/** The names of sign-ins' cookies that the Cookie lines have: no more than there are slots. */
export function signInCookiesIn(lines: readonly string[]): ReadonlySet<string> {
  return new Set(lines.flatMap((line) => [...line.matchAll(SIGN_IN_NAME)].map((found) => found[1] ?? '')))
}

/** A value for Set-Cookie. @param maxAge seconds; 0 takes the cookie away */
export function setCookie(name: string, value: string, maxAge: number): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAge}; Secure; HttpOnly; SameSite=Lax`
}

/**
 * The values that the Cookie lines have for the name, in order. More than one is an attack or a mistake, and for the
 * caller to refuse.
 */
export function cookieValues(lines: readonly string[], name: string): string[] {
  const values: string[] = []
  for (const line of lines) {
    // Most requests have none of ours.
    if (!line.includes(name)) continue
    for (const pair of line.split(';')) {
      const at = pair.indexOf('=')
      if (at > 0 && pair.slice(0, at).trim() === name) values.push(pair.slice(at + 1).trim())
    }
  }
  return values
}
