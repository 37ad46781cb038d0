/** What gives the users of a tenant their Seats. */

import type { ScimMode } from './scim.ts'
import type { User } from './user.ts'

/**
 * A mode: the SCIM groups that the user is in now, each the Seat of its name (`seats_from: scim`). The mode
 * says how users and SCIM users meet. Null: the latest sign-in.
 */
export type SeatsFrom = ScimMode | null

/** In lists of statements, one for each. */
export const EVERY_SEATS_FROM: readonly SeatsFrom[] = [null, 'externalId', 'userName', 'claim']

/** Whether the number of users who have a Seat is exact, apart from grants. */
export function countsExactly(seatsFrom: SeatsFrom): boolean {
  return seatsFrom !== null
}

/**
 * Whether a list of users has each user of the provider who has a Seat now, and no other. In mode `claim`, a
 * list lacks users of groups who have not signed in.
 */
export function listsExactly(seatsFrom: SeatsFrom): boolean {
  return seatsFrom === 'userName' || seatsFrom === 'externalId'
}

/** Whether the Seats of this user are known as of now. In mode `claim`, a sign-in has to have said the key. */
export function knowsExactly(seatsFrom: SeatsFrom, { member }: Pick<User, 'member'>): boolean {
  return listsExactly(seatsFrom) || (seatsFrom === 'claim' && member !== undefined)
}
