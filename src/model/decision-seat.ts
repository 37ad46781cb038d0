/** Seats in the form that decisions use. */

/** One question about a Seat: does it list the space, and hold the permission? */
export class SeatQuestion {
  readonly space: string
  readonly permission: string

  constructor(space: string, permission: string) {
    this.space = space
    this.permission = permission
  }

  /**
   * Unique by space and permission: neither contains a NUL. Built on demand, as a hit in memory does not need
   * it.
   */
  get id(): string {
    return `${this.space}\0${this.permission}`
  }
}

/**
 * An immutable Seat, compiled for decisions. A change creates a new object. A Seat that is not `complete`
 * holds at most the space and the permission (or `*`) of the question that it was read for, so that no large
 * Seat is held whole.
 */
export interface Seat {
  readonly id: string
  readonly name: string
  readonly complete: boolean
  readonly spaces: ReadonlySet<string>
  readonly permissions: ReadonlySet<string>
}

/**
 * The current meaning of a name. `givenUpAt`: when the name was last given up, in whole seconds since the
 * epoch; null: never.
 */
export interface NamedSeat {
  readonly seat: Seat | null
  readonly givenUpAt: number | null
}
