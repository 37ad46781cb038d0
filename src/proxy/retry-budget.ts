/**
 * How many retries an upstream gets: a share of its requests, so that one in trouble isn't buried under repetitions.
 */

import type { RetrySettings } from './upstream-options.ts'

/** Seconds looked back on. */
const WINDOW = 10

export class RetryBudget {
  readonly #settings: RetrySettings
  /** A ring of seconds: which second each slot is of, and what was counted in it. */
  readonly #second = new Float64Array(WINDOW).fill(-WINDOW)
  readonly #asked = new Float64Array(WINDOW)
  readonly #retried = new Float64Array(WINDOW)

  constructor(settings: RetrySettings) {
    this.#settings = settings
  }

  /**
   * A request came.
   *
   * @param now monotonic ms, here and below
   */
  asked(now: number): void {
    const slot = this.#slot(now)
    this.#asked[slot] = (this.#asked[slot] ?? 0) + 1
  }

  /** Takes one retry; false: none is left. */
  take(now: number): boolean {
    const slot = this.#slot(now)
    const { share, perSecond } = this.#settings
    const allowed = Math.max(perSecond * WINDOW, share * this.#sum(this.#asked, now))
    if (this.#sum(this.#retried, now) >= allowed) return false
    this.#retried[slot] = (this.#retried[slot] ?? 0) + 1
    return true
  }

  #slot(now: number): number {
    const second = Math.floor(now / 1000)
    const slot = second % WINDOW
    if (this.#second[slot] !== second) {
      this.#second[slot] = second
      this.#asked[slot] = 0
      this.#retried[slot] = 0
    }
    return slot
  }

  #sum(counts: Float64Array, now: number): number {
    const oldest = Math.floor(now / 1000) - WINDOW
    let sum = 0
    for (let slot = 0; slot < WINDOW; slot++) if ((this.#second[slot] ?? 0) > oldest) sum += counts[slot] ?? 0
    return sum
  }
}
