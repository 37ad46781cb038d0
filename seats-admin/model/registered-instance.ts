/** The gateways of a fleet, as the store lists them. */

import type { FeedReading, Position } from './change.ts'

export interface Instance {
  readonly id: string
  /** For people: host and pid. */
  readonly name: string
  /** Counted up by the instance itself with each sign of life; never repeats. */
  readonly beat: number
  /** The newest change that it has applied, as of that beat. */
  readonly applied: number
  /** The content hash of its route tables, as of that beat; null: an older version, which does not report it. */
  readonly config: string | null
  /** Milliseconds since the beat by the store's clock. For people only: clocks step. */
  readonly age: number
}

/** The instances of a shared store, all of which must apply a change before the response to its write. */
export interface Registry {
  /** Durable before it resolves. */
  register(id: string, name: string): Promise<void>
  /**
   * A heartbeat and a reading of the feed in one statement. `registered` is false when the instance is not registered
   * (any more): nothing was written then, and the reading must not be used for a lease.
   *
   * @param applied the newest change that every process of the instance has applied
   * @param config the content hash of its route tables, for people; left out: not known
   */
  follow(
    id: string,
    beat: number,
    position: Position | null,
    applied: number,
    config?: string,
  ): Promise<FeedReading & { readonly registered: boolean }>
  instances(): Promise<readonly Instance[]>
  /**
   * Removes an instance without a heartbeat since `beat`. Rejects for ten seconds after the connection to the store has
   * broken: a crash may have undone the newest heartbeats, so the observer may have missed some.
   */
  forget(id: string, beat: number): Promise<void>
  /** Removes an instance that has stopped deciding. */
  leave(id: string): Promise<void>
}
