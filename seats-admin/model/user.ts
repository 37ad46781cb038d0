/** Users as the store knows them from their sign-ins, and from grants. */

import type { HeldGrant } from './grant.ts'

/** The identity of a user who signs in. Times in ms since the epoch. */
export interface SignedInIdentity {
  /** Alone identifies a user, never the email address. */
  readonly sub: string
  readonly email: string | null
  readonly name: string | null
  readonly at: number
  /** The provider left out the user's groups for their number. Left out: it did not. */
  readonly areGroupsLeftOut?: boolean
}

export interface User {
  readonly sub: string
  /** The email address of the latest sign-in; null: the provider gave none. */
  readonly email: string | null
  readonly name: string | null
  /**
   * The latest sign-in or refresh in ms since the epoch; null if it was before this was recorded, or never.
   */
  readonly lastSignIn: number | null
  /** The names of the Seats that the user has without grants, in order. `SeatsFrom` says what gives them. */
  readonly seats: readonly string[]
  /** The grants in force, in order of the names of their Seats. Left out: there are none. */
  readonly grants?: readonly HeldGrant[]
  /** The provider left out the groups at that sign-in. Left out: it did not. */
  readonly areGroupsLeftOut?: boolean
  /** The key of mode `claim` that a sign-in has recorded. Left out: none has. */
  readonly member?: string
}

/** Characters (OpenID Connect Core 1.0, section 2): at most 765 bytes, as an index of PostgreSQL can hold. */
const MAX_SUB = 255

/** Whether the store can list a user of this `sub`. It holds for every `sub` that a sign-in accepts. */
export function isStorableSub(sub: string): boolean {
  return sub !== '' && sub.length <= MAX_SUB && sub.isWellFormed() && !sub.includes('\0')
}

/** A Seat that a user has. */
export interface HeldSeatName {
  readonly name: string
  /** The end of the last grant by which the user has it, in ms since the epoch; null: it has none. */
  readonly until: number | null
}

/**
 * The Seats of the latest sign-in, and then those that the user has by grants alone, the last to end first.
 */
export function seatsHeld({ seats, grants = [] }: Pick<User, 'seats' | 'grants'>): HeldSeatName[] {
  const ends = new Map<string, number>()
  for (const { seat, until } of grants)
    if (!seats.includes(seat)) ends.set(seat, Math.max(until, ends.get(seat) ?? 0))
  const granted = [...ends].map(([name, until]) => ({ name, until }))
  return [
    ...seats.map((name) => ({ name, until: null })),
    ...granted.toSorted((one, other) => other.until - one.until),
  ]
}
