/** API keys and sign-in sessions as the store holds them. */

/** An API key as the store holds it. `hash`: SHA-256 of the key's text. Times in ms since the epoch. */
export interface ApiKeyRecord {
  readonly id: string
  readonly tenant: string
  readonly hash: Uint8Array
  readonly seats: readonly string[]
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** A sign-in session as the store holds it. Times in ms since the epoch. */
export interface SessionRecord {
  readonly id: string
  readonly tenant: string
  /** SHA-256 of the cookie's secret; null for one that no cookie opens. */
  readonly cookieHash: Uint8Array | null
  /** The provider's `sub`. */
  readonly user: string
  readonly email: string | null
  /** `{space}:{seat}` entries, as last mapped. */
  readonly hashPerm: readonly string[]
  /** Whole seconds, taken before the Seats were looked up: what `iat` is to a token. */
  readonly issuedAt: number
  /** From then on the Seats are to be mapped afresh before the session counts. */
  readonly renewAt: number
  readonly expiresAt: number
  readonly endedAt: number | null
}
