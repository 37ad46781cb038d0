/** Collects the field lines with credentials. It does not check them. */

import type { Credentials } from '../../model/authorization-request.ts'

/** Shared by all requests without the header field: frozen, never pushed to. */
const NONE: string[] = []
Object.freeze(NONE)

/** @param rawHeaders name, value, name, value, … as received; names in any case, one pair a field line */
export function readCredentials(rawHeaders: readonly string[]): Credentials {
  let apiKey = NONE
  let authorization = NONE
  let cookie = NONE
  let space = NONE
  for (let at = 0; at + 1 < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? ''
    const value = rawHeaders[at + 1] ?? ''
    // The length is checked first: most lines are of other fields, and need no lower-case copy.
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
  return { apiKey, authorization, cookie, space }
}

function add(lines: string[], value: string): string[] {
  if (lines === NONE) return [value]
  lines.push(value)
  return lines
}
