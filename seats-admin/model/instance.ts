/** A gateway of a fleet, as the store lists it. */

export interface Instance {
  readonly id: string
  /** For people: host and pid. */
  readonly name: string
  /** Counted up by the instance itself with each sign of life; never repeats. */
  readonly beat: number
  /** The newest change that it has applied, as of that beat. */
  readonly applied: number
  /** Milliseconds since the beat by the store's clock. For people only: clocks step. */
  readonly age: number
}
