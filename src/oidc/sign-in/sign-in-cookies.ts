/**
 * Bounds the pending sign-ins of one browser: it sends their cookies with every request, and too many of them exceed the
 * limit of the header section.
 */

import { setCookie, type SignInCookie, signInCookiesIn } from '../session/cookies.ts'

/** Pending sign-ins beside the new one. */
const MAX_PENDING = 40
/** Cookies that one response removes; the next response removes further ones. */
const MAX_REMOVED = 64

/**
 * @param own characters of the new cookie
 * @param bytes limit of all sign-in cookies together
 * @returns values for Set-Cookie that remove the oldest sign-ins beyond the limits
 */
export function removeOldSignIns(cookieLines: readonly string[], own: number, bytes: number): string[] {
  const cookies = signInCookiesIn(cookieLines).sort((a, b) => startedAt(b) - startedAt(a))
  let size = own
  let retained = 0
  for (const { name, value } of cookies) {
    size += name.length + value.length + '=; '.length
    if (size > bytes || retained === MAX_PENDING) break
    retained++
  }
  return cookies.slice(retained, retained + MAX_REMOVED).map(({ name }) => setCookie(name, '', 0))
}

/** Read without authentication: a browser that forges the time only removes its own cookies. */
function startedAt({ value }: SignInCookie): number {
  const time = Number.parseInt(value.split('.', 2)[1] ?? '', 36)
  return Number.isNaN(time) ? 0 : time
}
