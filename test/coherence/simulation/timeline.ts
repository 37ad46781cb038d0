/** Simulated time: a queue of events. They run one at a time, with all microtasks after each. */

import { drainMicrotasks } from './microtasks.ts'

/** The process that an event belongs to: its events wait while it is frozen, and are dropped once it has ended. */
export interface Owner {
  readonly state: 'running' | 'frozen' | 'ended'
  /** Keeps an event until the process thaws. */
  hold(entry: Entry): void
}

export interface Entry {
  readonly at: number
  readonly owner: Owner | null
  /** Null: cancelled. */
  run: (() => void) | null
}

export class Timeline {
  /** Simulated time in milliseconds, independent of the machines' clocks. */
  now = 0
  /** Number of events that have run. */
  events = 0
  /** The next event is the last one. There are few at any time, so a search is quick. */
  readonly #queue: Entry[] = []

  /** @param owner null: an event outside all processes */
  after(delay: number, owner: Owner | null, run: () => void): Entry {
    const entry: Entry = { at: this.now + Math.max(0, delay), owner, run }
    // Before all of the same time, which run first.
    this.#queue.splice(this.#queue.findLastIndex(({ at }) => at > entry.at) + 1, 0, entry)
    return entry
  }

  runUntil(end: number): void {
    for (let next = this.#queue.at(-1); next !== undefined && next.at <= end; next = this.#queue.at(-1)) {
      this.#queue.pop()
      if (next.run === null) continue
      this.now = next.at
      this.#happen(next, next.run)
    }
    this.now = end
  }

  #happen(entry: Entry, run: () => void): void {
    const { owner } = entry
    if (owner?.state === 'ended') return
    if (owner?.state === 'frozen') return owner.hold(entry)
    this.events++
    run()
    drainMicrotasks()
  }
}
