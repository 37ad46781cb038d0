/**
 * A sign-in session as decisions need it: one of a browser, or the refresh family of a program, with its
 * tokens.
 */

/** 128 random bits in base64url; not a secret. */
export const SESSION_ID = /^[A-Za-z0-9_-]{22}$/

export function isSessionId(text: string): boolean {
  return SESSION_ID.test(text)
}

/** Times in ms since the epoch, unless said otherwise. */
export interface SessionRecord {
  readonly id: string
  readonly tenant: string
  /** SHA-256 of the cookie's secret; null for a refresh family, which no cookie opens. */
  readonly cookieHash: Uint8Array | null
  /** The provider's `sub`. */
  readonly user: string
  readonly email: string | null
  /** The entries of `hash_perm` as last mapped; see `hash-perm.ts`. */
  readonly hashPerm: readonly string[]
  /** Whole seconds since the epoch, taken before the Seats were looked up: what `iat` is to a token. */
  readonly issuedAt: number
  /** The time from which the Seats must be mapped again before the session counts. */
  readonly renewAt: number
  /** The end of the session in any case. It never moves. */
  readonly expiresAt: number
  readonly endedAt: number | null
  /** Whether a revocation has ended it. */
  readonly revoked: boolean
  /**
   * The member key of the user in mode `claim` of SCIM. Left out: the provider gave none, or it is the user.
   */
  readonly member?: string
  /**
   * The tokens of the session with an `iat` up to the second of this time are void, and Seats that were asked
   * for before count no more; 0: none are. It grows with each event.
   */
  readonly voidUntil: number
}

/** A live session as administration shows it. Times in ms since the epoch. */
export interface ListedSession {
  readonly id: string
  readonly user: string
  readonly email: string | null
  /** `browser`: a cookie opens it; `program`: its tokens do, and refresh handles. */
  readonly kind: 'browser' | 'program'
  /** The beginning; null for a session from before this was recorded. */
  readonly createdAt: number | null
  readonly expiresAt: number
}
