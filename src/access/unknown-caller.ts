/** What `explain` says of a caller whom the gateway does not know, in part or whole. */

import type { TenantConfig } from '../config/config.ts'
import type { SeatClaims } from '../model/principal.ts'

export const NO_KEY = 'There is no such API key here.'
const NO_SIGN_IN = 'No sign-in of this user is known here; tokens of other issuers leave no trace.'
const NOT_SAID = 'Who the user is in SCIM is not known here: no sign-in has recorded the claim that says so.'

/**
 * What is not known of a user, as a sentence; '': nothing.
 *
 * @param byGroups null: the groups of the user give nothing
 */
export function userMissing(
  isKnown: boolean,
  { scim = null }: TenantConfig,
  byGroups: SeatClaims | null,
): string {
  if (!isKnown) return NO_SIGN_IN
  const isSaid = byGroups?.by !== 'membership' || byGroups.member !== null
  return scim?.user.mode === 'claim' && !isSaid ? NOT_SAID : ''
}

/** The most names of Seats in a sentence. */
const MOST_NAMED = 5

/** Which Seats do not exist, as a sentence; '': all do. */
export function seatsMissing(names: readonly string[]): string {
  if (names.length === 0) return ''
  const some = names.slice(0, MOST_NAMED).map((name) => JSON.stringify(name))
  const more = names.length > some.length ? ` and ${names.length - some.length} more` : ''
  return names.length === 1
    ? `There is no Seat ${some} here.`
    : `There are no Seats ${some.join(', ')}${more} here.`
}
