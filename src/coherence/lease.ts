/**
 * The lease: the right to decide from memory, and what keeps it true.
 *
 * Every write to the store is followed by a row in its change feed, numbered by `seq` in commit order. This instance
 *
 *   1. notes the monotonic clock,
 *   2. reads the feed and makes memory forget all that changed,
 *   3. may then decide from memory until the noted time + LEASE.
 *
 * A writer answers 2xx only when each instance has forgotten the old state (the own instance does at once, by
 * {@link Lease.committed}) or when LEASE + MARGIN have passed since its commit.
 *
 * Why nothing stale gets out: let a request start at time t, after a write that committed at c was answered. Either
 * this instance was told of the write before the answer, or the answer came at c + LEASE + MARGIN < t. A live lease at
 * t was noted after t - LEASE > c, so the feed read after that showed the write and memory forgot. Without a live
 * lease the feed is read first. Only this machine's monotonic clock is compared, and only with itself: an instance
 * that was frozen, cut off or is deaf finds its lease run out.
 */

import { performance } from 'node:perf_hooks'

/** Milliseconds for which one reading of the feed is good. */
export const LEASE = 1000
/** Milliseconds a writer waits beyond LEASE, for clocks of machines that run at slightly different speeds. */
export const MARGIN = 250
/** Milliseconds between readings. Four a second: two may fail before the lease is lost. */
const RENEW_EVERY = 250

export interface FeedChange {
  readonly tenant: string
  readonly kind: 'seat' | 'seat-name' | 'api-key'
  readonly key: string
}

/** The store's change feed. `changes` is null where those after `seq` are no longer all kept. */
export interface Feed {
  changesSince(seq: number): Promise<{ readonly seq: number; readonly changes: readonly FeedChange[] | null }>
}

/** Memory that can forget. What it is reading from the store meanwhile must not bring back what it forgets. */
export interface Forgetful {
  /** @param seq what is read of this from now on counts only if it is at least as new */
  forget(change: FeedChange, seq: number): void
  forgetAll(): void
}

/** Reported when the lease is lost and when it is back; once a change, not once a failure. */
export type LeaseListener = (state: 'live' | 'lost', cause: unknown) => void

export class Lease {
  readonly #feed: Feed
  readonly #memory: Forgetful
  readonly #listener: LeaseListener
  readonly #now: () => number
  #seq = 0
  #until = 0
  #state: 'live' | 'lost' = 'lost'
  #renewal: Promise<void> | null = null
  #timer: NodeJS.Timeout | null = null

  constructor(feed: Feed, memory: Forgetful, listener: LeaseListener, now = () => performance.now()) {
    this.#feed = feed
    this.#memory = memory
    this.#listener = listener
    this.#now = now
  }

  /** Reads the feed for the first time and from then on by itself. Rejects when the store can't be read. */
  async start(): Promise<void> {
    await this.#renew()
    this.#timer = setInterval(() => void this.#renew().catch(() => {}), RENEW_EVERY)
    this.#timer.unref()
  }

  /** The newest change that memory has heard of. */
  get seq(): number {
    return this.#seq
  }

  /** Memory may be used for a request that starts now. */
  live(): boolean {
    return this.#now() < this.#until
  }

  /**
   * Resolves once memory may be used for a request that started before the call.
   * Rejects when the store can't be asked, or answers so slowly that no lease outlives its reading.
   */
  async renewed(): Promise<void> {
    await this.#renew()
    if (!this.live()) await this.#renew()
    if (!this.live()) throw new Error('the store answers too slowly for a lease')
  }

  /** A write of this process has been committed: forget before the writer is answered. */
  committed(seq: number, changes: readonly FeedChange[]): void {
    for (const change of changes) this.#memory.forget(change, seq)
  }

  stop(): void {
    if (this.#timer !== null) clearInterval(this.#timer)
    this.#timer = null
    this.#until = 0
  }

  /** Single-flight: a renewal under way is good for all who wait, as its lease counts from when it began. */
  #renew(): Promise<void> {
    this.#renewal ??= this.#read().finally(() => {
      this.#renewal = null
    })
    return this.#renewal
  }

  async #read(): Promise<void> {
    const noted = this.#now()
    try {
      const { seq, changes } = await this.#feed.changesSince(this.#seq)
      this.#apply(seq, changes)
      this.#until = noted + LEASE
      this.#report('live', null)
    } catch (cause) {
      if (!this.live()) this.#report('lost', cause)
      throw cause
    }
  }

  /** A `seq` behind ours means another or a restored store: nothing remembered is worth anything then. */
  #apply(seq: number, changes: readonly FeedChange[] | null): void {
    if (changes === null || seq < this.#seq) this.#memory.forgetAll()
    else for (const change of changes) this.#memory.forget(change, seq)
    this.#seq = seq
  }

  #report(state: 'live' | 'lost', cause: unknown): void {
    if (state === this.#state) return
    this.#state = state
    this.#listener(state, cause)
  }
}
