/** Who the provider says it is: claims → sub, email, name. Pure. A user is known by `sub` alone, never by an address. */

import type { Claims } from './compact-jws.ts'

export interface Identity {
  readonly sub: string
  readonly email: string | null
  readonly name: string | null
}

const MAX_TEXT = 320

/**
 * @param more claims of userinfo, for what the ID token lacks
 */
export function identityOf(sub: string, claims: Claims, more: Claims = {}): Identity {
  return {
    sub,
    email: emailOf(claims) ?? emailOf(more),
    name: textOf(claims.name) ?? textOf(more.name),
  }
}

/** One that the provider says it has not verified may be anybody's: upstreams would take it for the user's. */
function emailOf({ email, email_verified: verified }: Claims): string | null {
  return verified === false || verified === 'false' ? null : textOf(email)
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT || !value.isWellFormed())
    return null
  return value
}
