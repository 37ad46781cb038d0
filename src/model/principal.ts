/** The authenticated caller. */

/**
 * How callers authenticate: by an API key, a token, a session cookie, or a token of another issuer. The log,
 * upstreams, signed identity and clients learn these names: add to them, never rename one.
 */
export const AUTH_METHODS = ['api-key', 'bearer', 'session', 'issuer'] as const
export type AuthMethod = (typeof AUTH_METHODS)[number]

/**
 * Request fields that hold a credential for the gateway alone, in lower case. No upstream gets them, whether
 * the gateway or another proxy forwards: an upstream that logs its requests would have the keys of all
 * callers. No proxy may index them (RFC 7541, section 7.1.3). Pages of other origins may send them if a table
 * has `cors`.
 */
export const OWN_CREDENTIAL_FIELDS: readonly string[] = Object.freeze(['x-api-key'])

export interface Principal {
  readonly method: AuthMethod
  readonly tenant: string
  /** The token's `sub`, the API key's id, or `issuer|sub` for a token of another issuer. */
  readonly user: string
  readonly email: string | null
  readonly claims: SeatClaims
  /**
   * The user whose blocks and revocations the credential is subject to: the caller, or the owner of the API
   * key; null: the key has no owner.
   */
  readonly owner: string | null
  /**
   * The token's `iat` in whole seconds, rounded down, without a leeway: a revocation from then on voids the
   * token. -Infinity: it has no `iat`. Infinity: the credential ends by its own record, as API keys, session
   * cookies and tokens with a `sid` do.
   */
  readonly issuedAt: number
  /** The sign-in session that the credential ends with: of the cookie, or of the token's `sid`; else null. */
  readonly session: string | null
  /** ms since the epoch. From then on the credential must be verified again; null: it never expires. */
  readonly validUntil: number | null
}

/**
 * A token with a verified signature. `timeRefusal` (`decision/authn/token-claims.ts`) says whether it is
 * valid at a point in time.
 */
export interface VerifiedToken {
  readonly principal: Principal
  /** Seconds since the epoch, from `exp`: the first moment at which the token is expired. */
  readonly expiresAt: number
  /** Seconds since the epoch, from `nbf` and `iat`; -Infinity: the token has neither. */
  readonly validFrom: number
  /** Seconds of clock skew that are tolerated. */
  readonly leeway: number
  /**
   * Milliseconds after which the signature is verified again, as its issuer may withdraw the key; left out:
   * never.
   */
  readonly cacheFor?: number
}

/** The subject of a new token of the gateway. */
export interface TokenSubject {
  readonly sub: string
  readonly email?: string
  readonly name?: string
  /** `{space}:{seat}` entries. */
  readonly hashPerm: readonly string[]
  /** The session that the token ends with; left out: none. */
  readonly sid?: string
  /** The user's key in SCIM if the `sub` is none; left out: it is, or the tenant has no SCIM. */
  readonly scimKey?: string
  /** Whether an identity provider signed the user in; left out: false. */
  readonly isSso?: boolean
}

/** What gives the caller Seats: names by space in a token, ids of an API key, or the groups of a user. */
export type SeatClaims =
  | {
      readonly by: 'name'
      /** space → Seat names, from `hash_perm`. */
      readonly entries: ReadonlyMap<string, readonly string[]>
      /**
       * The token's `iat` minus the leeway for the issuer's clock, in whole seconds: a lower bound of its
       * issue by the clock that records when a name is given up. -Infinity when the token has no `iat`.
       */
      readonly issuedAt: number
    }
  | { readonly by: 'id'; readonly seats: readonly string[] }
  /**
   * A token of a provider or of another issuer: Seat names that count in all spaces of those Seats.
   * `issuedAt` as above.
   */
  | { readonly by: 'any-space'; readonly names: readonly string[]; readonly issuedAt: number }
  /**
   * A user of a tenant with `seats_from: scim`, whose Seats are those with the names of the user's groups, as
   * they are at the decision. `member` is the id of the user's membership (`membership.ts`); null: the
   * credential does not say who the user is in SCIM, so that no group counts. `issuedAt` as above: no group
   * depends on it.
   */
  | { readonly by: 'membership'; readonly member: string | null; readonly issuedAt: number }
