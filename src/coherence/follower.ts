/** Follows the store's feed: reads it a few times a second, and when asked to. One a process tree. See `lease.ts`. */

import type { NumberedChange, Position } from '../../seats-admin/model/change.ts'
import type { Reading } from './change.ts'
import type { Clock } from './clock.ts'
import { LEASE } from './lease.ts'

/** Milliseconds between readings. Four a second: two may fail before the lease is lost. */
export const RENEW_EVERY = 250

/** The feed, and what must be done beside reading it. */
export interface Feed {
  /**
   * @param noted to be given back, or a later one where the reading that counts began later
   * @param applied the newest change that all deciders have applied
   */
  read(position: Position | null, noted: number, applied: number): Promise<FeedAnswer>
}

export interface FeedAnswer {
  readonly noted: number
  readonly head: Position
  readonly changes: readonly NumberedChange[] | null
  /** False: the instance was not on the list. */
  readonly listed?: boolean
}

/** Told when the feed can't be read any more and when it can again; once a change, not once a failure. */
export type FeedListener = (state: 'live' | 'lost', cause: unknown) => void

/** Whom the readings are for. */
export interface FeedReader {
  /** In order, each reading beginning where the one before it ended. */
  take(reading: Reading): void
  /** The newest change that it has applied. */
  applied(): number
}

export class Follower {
  readonly #feed: Feed
  readonly #clock: Clock
  readonly #reader: FeedReader
  readonly #listener: FeedListener
  #position: Position | null = null
  /** Monotonic ms from which the newest reading counts. */
  #noted = Number.NEGATIVE_INFINITY
  /** Milliseconds that the newest reading took. */
  #took = 0
  #state: 'live' | 'lost' = 'lost'
  #renewal: Promise<void> | null = null
  #cancel: (() => void) | null = null
  #stopped = false

  constructor(feed: Feed, clock: Clock, reader: FeedReader, listener: FeedListener) {
    this.#feed = feed
    this.#clock = clock
    this.#reader = reader
    this.#listener = listener
  }

  get position(): Position | null {
    return this.#position
  }

  /** Milliseconds that the newest reading is old; infinite before the first. */
  get age(): number {
    return this.#clock.now() - this.#noted
  }

  /** The store is read: the next reading is not later than one as slow as the newest would be, by a lease at most. */
  get follows(): boolean {
    return this.age < LEASE + 2 * this.#took
  }

  /** Reads for the first time, and from then on by itself. Rejects when the store can't be read. */
  async start(): Promise<void> {
    await this.renew()
    this.#schedule()
  }

  /** Single-flight: a reading under way is good for all who wait, as it counts from when it began. */
  renew(): Promise<void> {
    this.#renewal ??= this.#read().finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  /** Resolves once a reading under way is done. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#cancel?.()
    await this.#renewal?.catch(() => {})
  }

  #schedule(): void {
    if (this.#stopped) return
    this.#cancel = this.#clock.after(RENEW_EVERY, () => {
      this.#schedule()
      void this.renew().catch(() => {})
    })
  }

  async #read(): Promise<void> {
    if (this.#stopped) throw new Error('the gateway is ending')
    const from = this.#position
    try {
      const {
        noted,
        head,
        changes,
        listed = true,
      } = await this.#feed.read(from, this.#clock.now(), this.#reader.applied())
      this.#position = head
      this.#noted = noted
      this.#took = this.#clock.now() - noted
      this.#reader.take({ noted, from, head, changes, listed })
      this.#report('live', null)
    } catch (cause) {
      // One that failed while the one before it is still good is nothing to wake anybody for.
      if (this.age > 2 * RENEW_EVERY) this.#report('lost', cause)
      throw cause
    }
  }

  #report(state: 'live' | 'lost', cause: unknown): void {
    if (state === this.#state) return
    this.#state = state
    this.#listener(state, cause)
  }
}
