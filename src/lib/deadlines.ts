/** Deadlines of many requests on one timer. */

import { performance } from 'node:perf_hooks'
import { InFlight, type Indexed } from './in-flight.ts'

export interface Timed extends Indexed {
  /** Monotonic ms. {@link Deadlines} writes it; the entry itself may set a later one. */
  deadline: number
  /** The deadline has passed. The callee moves or removes it. */
  expired(now: number): void
}

/** Milliseconds between two checks: a minimum, and a part for each entry. */
const MIN_INTERVAL = 10
const INTERVAL_PER_ENTRY = 0.01
/** Milliseconds. Node.js fires a longer timer at once. */
const MAX_TIMEOUT = 2 ** 31 - 1

/**
 * Deadlines of many requests on one timer. Nearly none of them expires, and a timer of Node.js for each
 * request costs a microsecond.
 */
export class Deadlines {
  readonly #all: InFlight<Timed>
  #timer: NodeJS.Timeout | null = null
  /** Monotonic ms of the next check and of the last one. */
  #next = Infinity
  #last = -Infinity

  /** @param all the entries, if another object adds and removes them */
  constructor(all = new InFlight<Timed>()) {
    this.#all = all
  }

  /** @param deadline monotonic ms */
  add(entry: Timed, deadline: number): void {
    this.#all.add(entry)
    this.move(entry, deadline)
  }

  /** Sets another deadline, earlier or later. Does nothing for an entry that is not present. */
  move(entry: Timed, deadline: number): void {
    if (!this.#all.has(entry)) return
    entry.deadline = deadline
    if (deadline < this.#next) this.#schedule(deadline)
  }

  /** Does nothing for an entry that is not present. */
  remove(entry: Timed): void {
    this.#all.remove(entry)
  }

  /** Ends the timer. Called once no entry follows: a timer would stay for as long as the longest deadline. */
  stop(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
    this.#next = Infinity
  }

  check(): void {
    const now = performance.now()
    const isLate = (entry: Timed) => this.#all.has(entry) && entry.deadline <= now
    this.#last = now
    this.#next = Infinity
    try {
      // An expired entry may remove or move another one.
      for (const entry of [...this.#all].filter(isLate)) {
        if (!isLate(entry)) continue
        // An entry that throws does not block the others at the next check.
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
    // Node.js may fire a timer up to a millisecond early.
    const inMs = Math.ceil(at - performance.now()) + 1
    this.#timer = setTimeout(check, Math.min(inMs, MAX_TIMEOUT), this).unref()
  }
}

function check(deadlines: Deadlines): void {
  deadlines.check()
}
