/** Header lines → Credentials: collects, and judges nothing. */

import type { Credentials } from '../../model/authorization-request.ts'

/** Shared by all requests that lack a header: frozen, and never pushed to. */
const NONE: string[] = []
Object.freeze(NONE)

/**
 * @param rawHeaders name, value, name, value, … as received; names in any case, one pair a header line
 * @param again further requests may say the same, and get the same Credentials
 */
export function readCredentials(rawHeaders: readonly string[], again = false): Credentials {
  let apiKey = NONE
  let authorization = NONE
  let cookie = NONE
  let space = NONE
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const value = rawHeaders[at + 1] ?? ''
    // Lengths first: most lines are none of ours, and need no lower-case copy to see it.
    switch (name.length) {
      case 5:
        if (name.toLowerCase() === 'space') space = add(space, value)
        break
      case 6:
        if (name.toLowerCase() === 'cookie') cookie = add(cookie, value)
        break
      case 9:
        if (name.toLowerCase() === 'x-api-key') apiKey = add(apiKey, value)
        break
      case 13:
        if (name.toLowerCase() === 'authorization') authorization = add(authorization, value)
        break
    }
  }
  return { apiKey, authorization, cookie, space, made: again ? [] : null }
}

function add(lines: string[], value: string): string[] {
  if (lines === NONE) return [value]
  lines.push(value)
  return lines
}
