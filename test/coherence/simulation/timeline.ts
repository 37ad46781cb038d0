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
  readonly order: number
  readonly owner: Owner | null
  /** Null: cancelled. */
  run: (() => void) | null
}

export class Timeline {
  /** Simulated time in milliseconds, independent of the machines' clocks. */
  now = 0
  /** Number of events that have run. */
  events = 0
  #order = 0
  /** A binary heap. */
  readonly #heap: Entry[] = []

  /** @param owner null: an event outside all processes */
  after(delay: number, owner: Owner | null, run: () => void): Entry {
    const entry: Entry = { at: this.now + Math.max(0, delay), order: this.#order++, owner, run }
    this.#push(entry)
    return entry
  }

  runUntil(end: number): void {
    for (let next = this.#heap[0]; next !== undefined && next.at <= end; next = this.#heap[0]) {
      this.#pop()
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

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.length
    while (at > 0) {
      const parent = (at - 1) >> 1
      const above = heap[parent]
      if (above === undefined || isBefore(above, entry)) break
      heap[at] = above
      at = parent
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (last === undefined || heap.length === 0) return
    let at = 0
    for (;;) {
      const child = smallerChild(heap, at)
      const below = heap[child]
      if (below === undefined || isBefore(last, below)) break
      heap[at] = below
      at = child
    }
    heap[at] = last
  }
}

function smallerChild(heap: readonly Entry[], at: number): number {
  const left = heap[2 * at + 1]
  const right = heap[2 * at + 2]
  return left !== undefined && right !== undefined && isBefore(right, left) ? 2 * at + 2 : 2 * at + 1
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.order < b.order)
}
