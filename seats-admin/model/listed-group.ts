/** Groups of SCIM and their members, as administrators see them. */

import type { ScimGroup, ScimMember } from './scim.ts'

export interface ListedGroup extends Pick<ScimGroup, 'id' | 'displayName' | 'memberCount' | 'activeCount'> {
  /** The id of the Seat of this name; null: no Seat has it. */
  readonly seatId: string | null
}

export interface ListedMember extends ScimMember {
  readonly active: boolean
  /**
   * Each `sub` of the callers who are this user: one at most, except in mode `claim`. None if the user has no
   * member key, or in mode `claim` has not signed in.
   */
  readonly users: readonly string[]
}
