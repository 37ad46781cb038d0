/** The retry budget of an upstream: a share of its requests, so that retries cannot overload an upstream in trouble. */

import type { RetrySettings } from './upstream-options.ts'

/** The length of the window. */
const WINDOW_SECONDS = 10

export class RetryBudget {
  readonly #settings: RetrySettings
  /** A ring of seconds: the second of each bucket, and its counts. */
  readonly #second = new Float64Array(WINDOW_SECONDS).fill(-WINDOW_SECONDS)
  readonly #requests = new Float64Array(WINDOW_SECONDS)
  readonly #retries = new Float64Array(WINDOW_SECONDS)

  constructor(settings: RetrySettings) {
    this.#settings = settings
  }

  /** Counts a request. @param now monotonic ms, here and below */
  countRequest(now: number): void {
    const bucket = this.#bucket(now)
    this.#requests[bucket] = (this.#requests[bucket] ?? 0) + 1
  }

  /** Takes one retry; false if the budget is used up. */
  takeRetry(now: number): boolean {
    const bucket = this.#bucket(now)
    const { share, perSecond } = this.#settings
    const allowed = Math.max(perSecond * WINDOW_SECONDS, share * this.#sum(this.#requests, now))
    if (this.#sum(this.#retries, now) >= allowed) return false
    this.#retries[bucket] = (this.#retries[bucket] ?? 0) + 1
    return true
  }

  #bucket(now: number): number {
    const second = Math.floor(now / 1000)
    const bucket = second % WINDOW_SECONDS
    if (this.#second[bucket] !== second) {
      this.#second[bucket] = second
      this.#requests[bucket] = 0
      this.#retries[bucket] = 0
    }
    return bucket
  }

  #sum(counts: Float64Array, now: number): number {
    const oldest = Math.floor(now / 1000) - WINDOW_SECONDS
    let sum = 0
    for (let bucket = 0; bucket < WINDOW_SECONDS; bucket++)
      if ((this.#second[bucket] ?? 0) > oldest) sum += counts[bucket] ?? 0
    return sum
  }
}
