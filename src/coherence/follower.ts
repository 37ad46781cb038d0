/**
 * Follows the store's feed: reads it periodically and on demand. A process tree has one follower. See
 * `lease.ts`.
 */

import type { Position } from '../../seats-admin/model/change.ts'
import type { Reading } from './feed-reading.ts'
import type { Clock } from './clock.ts'
import { LEASE } from './lease.ts'

/** Milliseconds between readings: two of them may fail before the lease expires. */
export const RENEW_EVERY = 250

/** Reads the feed and gives a sign of life. */
export interface Feed {
  /**
   * @param noted monotonic ms before the read; the result has a later time if the valid read began later
   * @param applied the newest change that all deciders have applied
   */
  read(position: Position | null, noted: number, applied: number): Promise<FeedAnswer>
}

export type FeedAnswer = Omit<Reading, 'from' | 'notedWall'>

/**
 * Called when the feed becomes readable and when it stops being so; not for each failure. `restored`: the
 * store is an earlier state of the one that it was, or another store.
 */
export type FeedListener = (state: 'live' | 'lost' | 'restored', cause: unknown) => void

/** Receives the readings. */
interface FeedReader {
  /** Called in order: each reading begins at the end of the one before. */
  applyReading(reading: Reading): void
  /** The newest change that the deciders have applied. */
  applied(): number
  /**
   * Called at the end of a reading before which there was no live lease: what is not in the feed may have
   * changed too. The reading counts once it has resolved.
   */
  resumes(): Promise<void>
}

export class Follower {
  readonly #feed: Feed
  readonly #clock: Clock
  readonly #reader: FeedReader
  readonly #listener: FeedListener
  #position: Position | null = null
  /** Monotonic ms from which the newest reading counts. */
  #noted = Number.NEGATIVE_INFINITY
  /** Wall-clock ms at that time. */
  #notedWall = Number.NEGATIVE_INFINITY
  /** Milliseconds that the newest reading took. */
  #duration = 0
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

  /** The age of the newest reading in ms; Infinity before the first. */
  get age(): number {
    return this.#clock.now() - this.#noted
  }

  /** Whether the newest reading still gives a lease. */
  get #isLive(): boolean {
    return this.age < LEASE && this.#clock.wall() - this.#notedWall < LEASE
  }

  /**
   * Whether the store is being followed: the next reading may be due within a lease and be as slow as the
   * newest.
   */
  get follows(): boolean {
    return this.age < LEASE + 2 * this.#duration
  }

  /** Reads once, and then periodically. Rejects when the store can't be read. */
  async start(): Promise<void> {
    await this.renew()
    this.#schedule()
  }

  /** Single-flight: a reading counts from when it began, so one in flight serves all that wait. */
  renew(): Promise<void> {
    this.#renewal ??= this.#read().finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  /** Resolves once the reading in flight has ended. */
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
    const wall = this.#clock.wall()
    const begun = this.#clock.now()
    try {
      const answer = await this.#feed.read(from, begun, this.#reader.applied())
      const { noted, head, changes, listed = true } = answer
      // If the machine slept before a later `noted`, the wall clock has gone on further than this.
      const notedWall = wall + (noted - begun)
      if (!this.#isLive) await this.#reader.resumes()
      if (changes === null && isEarlier(head, from)) this.#listener('restored', null)
      this.#position = head
      this.#noted = noted
      this.#notedWall = notedWall
      this.#duration = this.#clock.now() - noted
      this.#reader.applyReading({ noted, notedWall, from, head, changes, listed })
      this.#report('live', null)
    } catch (cause) {
      // A failure while the reading before is still valid is not reported.
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

/** A head that is further on may be of the same history, with more changes than a reading has. */
function isEarlier(head: Position, before: Position | null): boolean {
  if (before === null) return false
  return head.seq < before.seq || (head.seq === before.seq && head.mark !== before.mark)
}
