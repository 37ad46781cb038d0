/**
 * Until when each of many must have had a sign of life. One timer for all of them: nearly none is ever late, and a
 * timer of Node.js for each request costs a microsecond.
 */

import { performance } from 'node:perf_hooks'
import { type Slotted, InFlight } from '../lib/in-flight.ts'

export interface Due extends Slotted {
  /** Monotonic ms. Written by {@link Deadlines} only. */
  deadline: number
  /** It has passed. It is moved then, or removed. */
  expired(now: number): void
}

/** Milliseconds between two looks, at least; and more where there are many to be looked at. */
const APART = 10
const APART_FOR_EACH = 0.01
/** Milliseconds. A timer of Node.js that is to take longer goes off at once. */
const LONGEST = 2 ** 31 - 1

export class Deadlines {
  readonly #all = new InFlight<Due>()
  #timer: NodeJS.Timeout | null = null
  /** Monotonic ms of the next look, and of the last one. */
  #next = Infinity
  #last = -Infinity

  /** @param deadline monotonic ms */
  add(due: Due, deadline: number): void {
    this.#all.add(due)
    this.move(due, deadline)
  }

  /** Another one, earlier or later. Says nothing of what was not added, or was removed. */
  move(due: Due, deadline: number): void {
    if (!this.#all.has(due)) return
    due.deadline = deadline
    if (deadline < this.#next) this.#lookAt(deadline)
  }

  /** Nothing is waited for any more. */
  remove(due: Due): void {
    if (this.#all.has(due)) this.#all.remove(due)
  }

  look(): void {
    const now = performance.now()
    const isLate = (due: Due) => this.#all.has(due) && due.deadline <= now
    this.#last = now
    this.#next = Infinity
    try {
      // One of them may be the end of another, or move it.
      for (const due of [...this.#all].filter(isLate)) {
        if (!isLate(due)) continue
        // One that throws is not in the way of the others again.
        due.deadline = Infinity
        due.expired(now)
      }
    } finally {
      let next = Infinity
      for (const { deadline } of this.#all) next = Math.min(next, deadline)
      if (next < this.#next) this.#lookAt(next)
    }
  }

  #lookAt(deadline: number): void {
    const soonest = this.#last + APART + this.#all.size * APART_FOR_EACH
    const at = Math.max(deadline, soonest)
    if (at >= this.#next) return
    this.#next = at
    if (this.#timer !== null) clearTimeout(this.#timer)
    // Timers may go off within the millisecond before.
    const inMs = Math.ceil(at - performance.now()) + 1
    this.#timer = setTimeout(look, Math.min(inMs, LONGEST), this).unref()
  }
}

function look(deadlines: Deadlines): void {
  deadlines.look()
}
