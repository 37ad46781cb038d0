/**
 * Until when each of many must have had a sign of life. One timer for all of them: nearly none is ever late, and a timer
 * of Node.js for each request costs a microsecond. Used by `forward.ts`.
 */

import { performance } from 'node:perf_hooks'
import { type Slotted, UnderWay } from '../under-way.ts'

export interface Due extends Slotted {
  /** Monotonic ms. Written by {@link Deadlines} only. */
  deadline: number
  /** It has passed. It is moved then, or removed. */
  expired(now: number): void
}

/** Milliseconds between two looks, at least: each is a look at all of them. */
const APART = 10

export class Deadlines {
  readonly #all = new UnderWay<Due>()
  #timer: NodeJS.Timeout | null = null
  /** Monotonic ms of the next look. No deadline is before it. */
  #next = Infinity

  /** @param deadline monotonic ms */
  add(due: Due, deadline: number): void {
    this.#all.add(due)
    this.move(due, deadline)
  }

  /** Another one, earlier or later. Says nothing of what was not added, or was removed. */
  move(due: Due, deadline: number): void {
    if (!this.#all.has(due)) return
    due.deadline = deadline
    if (deadline < this.#next) this.#lookAt(deadline, performance.now())
  }

  /** Nothing is waited for any more. */
  remove(due: Due): void {
    if (this.#all.has(due)) this.#all.remove(due)
  }

  look(): void {
    const now = performance.now()
    this.#next = Infinity
    const late = [...this.#all].filter(({ deadline }) => deadline <= now)
    for (const due of late) if (this.#all.has(due)) due.expired(now)
    let next = Infinity
    for (const { deadline } of this.#all) next = Math.min(next, deadline)
    if (next < this.#next) this.#lookAt(Math.max(next, now + APART), now)
  }

  #lookAt(at: number, now: number): void {
    this.#next = at
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(look, Math.ceil(at - now), this).unref()
  }
}

function look(deadlines: Deadlines): void {
  deadlines.look()
}
