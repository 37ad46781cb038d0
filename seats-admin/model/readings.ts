/** Point reads of the store, for decisions and sign-in. */

import type { StoredApiKey } from './api-key.ts'
import type { Position } from './change.ts'
import type { GrantsReading, UserGrantsReading } from './grant.ts'
import type { RestrictionsReading, UserRestrictionReading } from './revocation.ts'
import type { SeatLists } from './seat.ts'

/** A value, and the store position of the same snapshot. */
export interface AsOf<V> extends Position {
  readonly value: V
}

/** The query of a decision: whether a Seat has the space and the permission. */
export interface SeatQuestion {
  readonly space: string
  readonly permission: string
}

/** The part of a Seat that sign-in needs. */
export interface SpacesReading {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
}

/**
 * The part of a Seat that one question needs. Small Seats are `complete`. Of others, `spaces` and
 * `permissions` contain at most the requested space, and the requested permission or `*`, of one snapshot.
 */
export interface GrantReading extends SpacesReading {
  readonly permissions: readonly string[]
  readonly complete: boolean
}

/**
 * The Seat of a name. `givenUpAt`: whole seconds since the epoch when the name was last given up, by the
 * later of the store's and the writer's clock; null if never.
 */
export interface Named<S> {
  readonly seat: S | null
  readonly givenUpAt: number | null
}

/**
 * `grant…` for decisions; `spaces…` for sign-in, without permissions; `seatById` reads the complete Seat of
 * any size.
 */
export interface GrantReader {
  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<AsOf<Named<GrantReading>>>
  grantById(tenant: string, id: string, question: SeatQuestion): Promise<AsOf<GrantReading | null>>
  spacesByName(tenant: string, name: string): Promise<AsOf<SpacesReading | null>>
  seatById(tenant: string, id: string): Promise<AsOf<SeatLists | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<StoredApiKey | null>>
}

/** Blocks and cutoffs, for decisions. */
export interface RestrictionReader {
  restrictions(tenant: string): Promise<AsOf<RestrictionsReading>>
  userRestriction(tenant: string, user: string): Promise<AsOf<UserRestrictionReading>>
}

/** Grants with an end, for decisions. */
export interface SeatGrantReader {
  grants(tenant: string): Promise<AsOf<GrantsReading>>
  userGrants(tenant: string, user: string): Promise<AsOf<UserGrantsReading>>
}
