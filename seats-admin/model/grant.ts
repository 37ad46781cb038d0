/**
 * Grants with an end: a user has a Seat besides, from a time until a time. Times in ms since the epoch.
 */

export interface SeatGrant {
  /** A ULID. */
  readonly id: string
  readonly tenant: string
  /** The `sub` of the user. */
  readonly user: string
  /** The id of the Seat, which the user has in all of its spaces. */
  readonly seat: string
  /** The beginning, inclusive. */
  readonly from: number
  /** The end, exclusive. Later than `from`. */
  readonly until: number
  readonly reason: string | null
  readonly createdBy: string
  readonly createdAt: number
}

/** A grant with the current name of its Seat. */
export interface ListedGrant extends SeatGrant {
  readonly seatName: string
}

/**
 * The part of a grant that decisions need. `from` is 0 if the grant began with its creation: a clock that is
 * behind must not delay it.
 */
export type GrantTerm = Pick<SeatGrant, 'id' | 'seat' | 'from' | 'until'>

/** A grant in force, as lists of users have it. */
export interface HeldGrant {
  readonly id: string
  /** The current name of the Seat. */
  readonly seat: string
  /** The end in ms since the epoch. */
  readonly until: number
}

/** @param now ms since the epoch */
export function isGrantInForce({ from, until }: Pick<SeatGrant, 'from' | 'until'>, now: number): boolean {
  return from <= now && now < until
}

/** The grants of one user, in order of creation. Never empty in {@link GrantsReading}. */
export interface GrantedUser {
  readonly user: string
  readonly grants: readonly GrantTerm[]
}

/**
 * The grants of a tenant, with the time of the store at the reading. Those that begin later are among them,
 * and those that have ended within the last day: a process may keep the reading for long, and the clock of
 * the store may have been wrong for a moment. A grant counts while it is in force ({@link isGrantInForce}) by
 * two clocks.
 */
export interface GrantsReading {
  readonly now: number
  /** The users with grants; null: there are too many to keep as a whole, and each user needs a reading. */
  readonly users: readonly GrantedUser[] | null
}

/** The grants of one user, as in {@link GrantsReading}. */
export interface UserGrantsReading {
  readonly now: number
  readonly grants: readonly GrantTerm[]
}

/** The most grants of one user in a reading: a decision may look up the Seat of each. */
export const MAX_GRANTS_OF_USER = 100
