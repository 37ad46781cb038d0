/** Plans of changes to many Seats, and what was applied. */

import type { Committed, KeyAdministration } from './change.ts'
import type { Scope } from './scope.ts'
import type { ListedSeat, WantedSeat } from './seat.ts'
import type { SeatsFrom } from './seats-from.ts'

/** The caller that a plan is made for: it has only the Seats in the caller's scope. */
export interface SeatsReader {
  readonly tenant: string
  readonly scope: Scope
  /** ms since the epoch: API keys that have expired by then are not counted. */
  readonly now: number
  /** Limit of a Seat's size in bytes; none when absent. */
  readonly seatBytes?: number
  /** Null if left out. */
  readonly seatsFrom?: SeatsFrom
}

/** The entity tag of each Seat of a plan, by {@link SeatChange.name}; null: the Seat is to be created. */
export type SeatVersions = ReadonlyMap<string, string | null>

export type SeatAction = 'create' | 'update' | 'delete'

/** What happens to one Seat. */
export interface SeatChange {
  readonly action: SeatAction
  /** The name after the change; for a deletion, the former name. */
  readonly name: string
  /** The Seat before the change; null: it is created. */
  readonly before: ListedSeat | null
  /** The Seat after the change; null: it is deleted. */
  readonly after: WantedSeat | null
}

export interface HoldingKeys {
  readonly count: number
  /** The names of some of the keys. */
  readonly names: readonly string[]
}

export interface SeatHolders {
  /** As `ListedSeat.memberCount`. */
  readonly users: number
  readonly keys: HoldingKeys
}

export interface PlannedSeat extends SeatChange {
  readonly keys: HoldingKeys
  /**
   * The users who have the Seat after the change: those of before; with Seats from SCIM, the active users in the
   * group of its name.
   */
  readonly usersAfter: number
}

export interface SeatsPlan {
  readonly changes: readonly PlannedSeat[]
  readonly unchanged: number
  /** The visible Seats that the wanted ones do not name, and some of their names. */
  readonly unnamed: { readonly count: number; readonly names: readonly string[] }
}

export interface AppliedSeats extends KeyAdministration {
  readonly changes: readonly {
    readonly action: SeatAction
    readonly name: string
    readonly was: string | null
    readonly id: string
  }[]
  readonly unchanged: number
  /** The position of the write. Its changes are empty if there was nothing to do. */
  readonly committed: Committed
}
