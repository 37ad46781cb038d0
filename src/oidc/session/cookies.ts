/**
 * Our cookies: the session, and what binds a sign-in under way to the browser that began it. All `__Host-` (of this host
 * alone, whole host, https), HttpOnly, SameSite=Lax: sent along when the provider sends the browser back, and on no
 * other request that another site makes but a navigation.
 *
 * `proxy/cookies.ts` keeps every cookie that begins with `__Host-seatgate` between the browser and the gateway.
 */

export const SESSION_COOKIE = '__Host-seatgate_session'
const SIGN_IN_COOKIE = '__Host-seatgate_signin_'

/** Characters of the state that name its cookie: 72 bits, so that no two sign-ins of a browser share one. */
const NAMED_BY = 12

/** The cookie of a sign-in, by its state. */
export function signInCookie(state: string): string {
  return `${SIGN_IN_COOKIE}${state.slice(0, NAMED_BY)}`
}

/** A sign-in's cookie as the browser shows it. */
export interface ShownSignIn {
  readonly name: string
  readonly value: string
}

const SIGN_IN = new RegExp(`(?:^|;)[ \\t]*(${SIGN_IN_COOKIE}[A-Za-z0-9_-]{0,64})[ \\t]*=([^;]*)`, 'g')

/** The sign-ins' cookies that the Cookie lines have, in order. */
export function signInCookiesIn(lines: readonly string[]): ShownSignIn[] {
  return lines.flatMap((line) =>
    [...line.matchAll(SIGN_IN)].map(([, name = '', value = '']) => ({ name, value: value.trim() })),
  )
}

/** A value for Set-Cookie. @param maxAge seconds; 0 removes the cookie */
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
