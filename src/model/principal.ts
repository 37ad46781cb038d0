/** The authenticated caller. */

export type AuthMethod = 'api-key' | 'bearer' | 'session'

/** Who calls. */
export interface Principal {
  readonly method: AuthMethod
  readonly tenant: string
  /** The token's `sub`, or the API key's id. */
  readonly user: string
  readonly email: string | null
  readonly claims: SeatClaims
  /** The sign-in session that it rests on; null for keys and tokens. */
  readonly session: string | null
  /** ms since the epoch: from then on the credential has to be looked at again, if only to say no; null: never. */
  readonly validUntil: number | null
}

/** What others are told of a principal. */
export type CallerIdentity = Pick<Principal, 'method' | 'tenant' | 'user' | 'email'>

/** For who keeps it: the principal would keep all that its credential names. */
export function identityOf(principal: CallerIdentity | null): CallerIdentity | null {
  if (principal === null) return null
  const { method, tenant, user, email } = principal
  return { method, tenant, user, email }
}

/** Whether they are one and the same to those who are told of them; what their credentials name is another matter. */
export function sameIdentity(one: CallerIdentity | null, other: CallerIdentity | null): boolean {
  if (one === null || other === null || one === other) return one === other
  return (
    one.method === other.method &&
    one.tenant === other.tenant &&
    one.user === other.user &&
    one.email === other.email
  )
}

/** Which Seats a credential names: a token by name and space, an API key by id. */
export type SeatClaims =
  | {
      readonly by: 'name'
      /** space → Seat names, from `hash_perm`. */
      readonly entries: ReadonlyMap<string, readonly string[]>
      /**
       * The token's `iat` less the leeway of its issuer's clock, in whole seconds: it was not issued before this by the
       * clock that marks a name as given up. -Infinity when it has none.
       */
      readonly issuedAt: number
    }
  | { readonly by: 'id'; readonly seats: readonly string[] }
  /** Seat names that hold in whatever spaces the Seats have: a provider's own token. `issuedAt` as above. */
  | { readonly by: 'any-space'; readonly names: readonly string[]; readonly issuedAt: number }
