/**
 * Until when each of many must have had a sign of life. One timer for all of them: nearly none is ever late, and a
 * timer of Node.js for each request costs a microsecond.
 */

import { performance } from 'node:perf_hooks'
import { type Indexed, InFlight } from '../lib/in-flight.ts'

export interface Timed extends Indexed {
  /** Monotonic ms. Written by {@link Deadlines} only. */
  deadline: number
  /** It has passed. It is moved then, or removed. */
  expired(now: number): void
}

/** Milliseconds between two looks, at least; and more where there are many to be looked at. */
const MIN_INTERVAL = 10
const INTERVAL_PER_ENTRY = 0.01
/** Milliseconds. A timer of Node.js that is to take longer goes off at once. */
const MAX_TIMEOUT = 2 ** 31 - 1

export class Deadlines {
  readonly #all = new InFlight<Timed>()
  #timer: NodeJS.Timeout | null = null
  /** Monotonic ms of the next look, and of the last one. */
  #next = Infinity
  #last = -Infinity

  /** @param deadline monotonic ms */
  add(entry: Timed, deadline: number): void {
    this.#all.add(entry)
    this.move(entry, deadline)
  }

  /** Another one, earlier or later. Says nothing of what was not added, or was removed. */
  move(entry: Timed, deadline: number): void {
    if (!this.#all.has(entry)) return
    entry.deadline = deadline
    if (deadline < this.#next) this.#schedule(deadline)
  }

  /** Nothing is waited for any more. */
  remove(entry: Timed): void {
    if (this.#all.has(entry)) this.#all.remove(entry)
  }

  check(): void {
    const now = performance.now()
    const isLate = (entry: Timed) => this.#all.has(entry) && entry.deadline <= now
    this.#last = now
    this.#next = Infinity
    try {
      // One of them may be the end of another, or move it.
      for (const entry of [...this.#all].filter(isLate)) {
        if (!isLate(entry)) continue
        // One that throws is not in the way of the others again.
        entry.deadline = Infinity
        entry.expired(now)
      }
    } finally {
      let next = Infinity
      for (const { deadline } of this.#all) next = Math.min(next, deadline)
      if (next < this.#next) this.#schedule(next)
    }
  }

  #schedule(deadline: number): void {
    const soonest = this.#last + MIN_INTERVAL + this.#all.size * INTERVAL_PER_ENTRY
    const at = Math.max(deadline, soonest)
    if (at >= this.#next) return
    this.#next = at
    if (this.#timer !== null) clearTimeout(this.#timer)
    // Timers may go off within the millisecond before.
    const inMs = Math.ceil(at - performance.now()) + 1
    this.#timer = setTimeout(check, Math.min(inMs, MAX_TIMEOUT), this).unref()
  }
}

function check(deadlines: Deadlines): void {
  deadlines.check()
}
