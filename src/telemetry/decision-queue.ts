/**
 * Decisions on their way to one reader, in batches. Bounded: what the reader does not take in time is counted
 * as lost.
 */

import { type DecisionFilter, matchesFilter, type RecentDecision, type TakeBatch } from '../model/activity.ts'

/**
 * Decisions in a row, and each second, that a reader gets: people and programs that watch need no more, and
 * each costs 2 µs.
 */
const BURST = 2000
const PER_SECOND = 1000
/** Milliseconds from a decision to its batch. */
const DELAY = 50

export class DecisionQueue {
  readonly #filter: Omit<DecisionFilter, 'tenant'>
  readonly #take: TakeBatch
  #waiting: RecentDecision[] = []
  #lost = 0
  /** How many more decisions it accepts, as of `#filledAt`, ms since the epoch. */
  #room = BURST
  #filledAt = 0
  #timer: NodeJS.Timeout | null = null
  #isBlocked = false
  #isClosed = false

  constructor(filter: Omit<DecisionFilter, 'tenant'>, take: TakeBatch) {
    this.#filter = filter
    this.#take = take
  }

  offer(decision: RecentDecision): void {
    if (!matchesFilter(decision, this.#filter)) return
    // The number of lost decisions is told after the decisions that wait, so none may follow before.
    if (this.#lost > 0 || !this.#hasRoom(decision.at)) this.#lost++
    else this.#waiting.push(decision)
    this.#schedule()
  }

  /** Decisions that another process has left out. */
  lose(count: number): void {
    if (count === 0) return
    this.#lost += count
    this.#schedule()
  }

  /** The reader takes the next batch. */
  resume(): void {
    this.#isBlocked = false
    if (this.#waiting.length > 0 || this.#lost > 0) this.#schedule()
  }

  close(): void {
    this.#isClosed = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#waiting = []
  }

  #hasRoom(now: number): boolean {
    if (this.#waiting.length >= BURST) return false
    const filled = ((now - this.#filledAt) / 1000) * PER_SECOND
    this.#room = Math.min(BURST, this.#room + Math.max(0, filled))
    this.#filledAt = now
    if (this.#room < 1) return false
    this.#room--
    return true
  }

  #schedule(): void {
    if (this.#isBlocked || this.#isClosed) return
    this.#timer ??= setTimeout(() => this.#deliver(), DELAY)
  }

  #deliver(): void {
    this.#timer = null
    if (this.#isBlocked) return
    const batch = { decisions: this.#waiting, lost: this.#lost }
    this.#waiting = []
    this.#lost = 0
    this.#isBlocked = !this.#take(batch)
  }
}
