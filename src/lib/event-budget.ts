/** A number of events at once, which refills with time. */

import { performance } from 'node:perf_hooks'

export interface EventLimits {
  /** Events at once. */
  readonly burst: number
  /** Events a second. */
  readonly rate: number
}

export class EventBudget {
  readonly #limits: EventLimits
  #left: number
  #at = performance.now()

  constructor(limits: EventLimits) {
    this.#limits = limits
    this.#left = limits.burst
  }

  /**
   * Counts an event, permitted or not: a debt is paid first.
   *
   * @returns whether it is permitted
   */
  spend(): boolean {
    if (--this.#left >= 0) return true
    this.#refill()
    return this.#left >= 0
  }

  /**
   * Counts an event if it is permitted.
   *
   * @returns whether it is
   */
  take(): boolean {
    if (this.#left < 1) this.#refill()
    if (this.#left < 1) return false
    this.#left--
    return true
  }

  get isExceeded(): boolean {
    return this.#left < 0
  }

  /** Whether the budget is exceeded now. */
  get isUsedUp(): boolean {
    if (this.#left < 0) this.#refill()
    return this.#left < 0
  }

  add(events: number): void {
    this.#left = Math.min(this.#left + events, this.#limits.burst)
  }

  /** Time that is too short for an event counts at the next call. */
  #refill(): void {
    const { rate } = this.#limits
    const events = Math.floor(((performance.now() - this.#at) * rate) / 1000)
    this.#at += (events * 1000) / rate
    this.add(events)
  }
}
