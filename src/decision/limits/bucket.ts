/** A token bucket. Time is monotonic ms and comes as an argument. */

import type { Filling } from '../../model/rate-limit.ts'

export class Bucket {
  tokens: number
  /** The time up to which `tokens` includes what was added. */
  #at: number

  constructor(tokens: number, now: number) {
    this.tokens = tokens
    this.#at = now
  }

  /**
   * Adds what the time since the last call gives.
   *
   * @returns the tokens, a fraction
   */
  refill({ capacity, rate }: Filling, now: number): number {
    this.tokens = Math.min(capacity, this.tokens + Math.max(0, now - this.#at) * rate)
    this.#at = now
    return this.tokens
  }
}

/** Milliseconds until a bucket with so many tokens has one; 0: it has. */
export function waitFor(tokens: number, rate: number): number {
  return tokens >= 1 ? 0 : (1 - tokens) / rate
}
