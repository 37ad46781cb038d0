/** What gives the users of a tenant their Seats. */

import type { ScimMode } from './scim.ts'

/**
 * A mode: the SCIM groups that the user is in now, each the Seat of its name (`seats_from: scim`). The mode
 * says how users and SCIM users meet. Null: the latest sign-in.
 */
export type SeatsFrom = ScimMode | null

/** In lists of statements, one for each. */
export const EVERY_SEATS_FROM: readonly SeatsFrom[] = [null, 'externalId', 'userName', 'claim']
