/** A sign-in session as decisions need it. */

/** Times in ms since the epoch, unless said otherwise. */
export interface SessionRecord {
  readonly id: string
  readonly tenant: string
  /** SHA-256 of the cookie's secret; null for a refresh family, which no cookie opens. */
  readonly cookieHash: Uint8Array | null
  /** The provider's `sub`. */
  readonly user: string
  readonly email: string | null
  /** See `hash-perm.ts`; as last mapped. */
  readonly hashPerm: readonly string[]
  /** Whole seconds since the epoch, taken before the Seats were looked up: what `iat` is to a token. */
  readonly issuedAt: number
  /** From then on the Seats are to be mapped afresh before the session counts. */
  readonly renewAt: number
  /** The end of it, whatever happens. Never moves. */
  readonly expiresAt: number
  readonly endedAt: number | null
}
