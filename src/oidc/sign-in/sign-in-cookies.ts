/**
 * Bounds the sign-ins that one browser has under way: their cookies go along with each of its requests, and too many
 * would make its requests too large to be served. Called when a sign-in begins.
 */

import { setCookie, type ShownSignIn, signInCookiesIn } from '../session/cookies.ts'

/** Beside the one that begins. */
const MAX = 40
/** Cookies that one answer removes; the next answer removes further ones. */
const MAX_REMOVED = 64

/**
 * Values for Set-Cookie that remove the oldest, until number and size are within bounds.
 *
 * @param own characters of the cookie that is added
 * @param bytes of all cookies of sign-ins
 */
export function fewerSignIns(cookieLines: readonly string[], own: number, bytes: number): string[] {
  const shown = signInCookiesIn(cookieLines).sort((one, other) => begunAt(other) - begunAt(one))
  let size = own
  let kept = 0
  for (const { name, value } of shown) {
    size += name.length + value.length + '=; '.length
    if (size > bytes || kept === MAX) break
    kept++
  }
  return shown.slice(kept, kept + MAX_REMOVED).map(({ name }) => setCookie(name, '', 0))
}

/** As the value says, seal unopened: a browser that lies removes cookies of its own only. */
function begunAt({ value }: ShownSignIn): number {
  const time = Number.parseInt(value.split('.', 2)[1] ?? '', 36)
  return Number.isNaN(time) ? 0 : time
}
