/** Seats as decisions see them. */

/** What a decision asks of a Seat: does it list the space, and hold the permission? */
export class SeatQuestion {
  readonly space: string
  readonly permission: string

  constructor(space: string, permission: string) {
    this.space = space
    this.permission = permission
  }

  /** Tells questions apart: neither part has a NUL. Made when asked for, as a hit in memory needs none. */
  get id(): string {
    return `${this.space}\0${this.permission}`
  }
}

/**
 * A Seat, compiled for decisions. Immutable; a change makes a new one. One that is not `complete` has at most the space
 * and the permission, or `*`, of the question that it was read for: a large Seat is never held whole.
 */
export interface Seat {
  readonly id: string
  readonly name: string
  readonly complete: boolean
  readonly spaces: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
}

/** What a name means now. `givenUpAt`: whole seconds since the epoch of the latest giving up; null if never. */
export interface NamedSeat {
  readonly seat: Seat | null
  readonly givenUpAt: number | null
}
