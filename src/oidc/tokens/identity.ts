/** Maps claims to sub, email and name. `sub` alone identifies a user, never the email address. */

import type { Claims } from './compact-jws.ts'

export interface Identity {
  readonly sub: string
  readonly email: string | null
  readonly name: string | null
}

const MAX_TEXT = 320

/** @param more claims of userinfo, for claims that the ID token lacks */
export function identityOf(sub: string, claims: Claims, more: Claims = {}): Identity {
  return {
    sub,
    email: emailOf(claims) ?? emailOf(more),
    name: textOf(claims.name) ?? textOf(more.name),
  }
}

/** An address that the provider marks as unverified is dropped: it may belong to another person. */
function emailOf({ email, email_verified: verified }: Claims): string | null {
  return verified === false || verified === 'false' ? null : textOf(email)
}

function textOf(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > MAX_TEXT || !value.isWellFormed())
    return null
  return value
}
