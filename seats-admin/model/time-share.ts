/**
 * Work of one request that takes long, in slices between which the event loop serves other work. All such work of the process
 * takes turns, one slice in each iteration of the loop, so that many of these requests together delay others as one does.
 */

import { performance } from 'node:perf_hooks'
import { setImmediate as immediate } from 'node:timers/promises'

/** Milliseconds of a slice. A step that has begun is finished. */
const SLICE = 2

const waiting: (() => void)[] = []

export class TimeShare {
  readonly #work: number
  readonly #isUrgent: boolean
  #end: number

  /** @param work ms in a row @param isUrgent others wait for it, so it has a slice in each iteration */
  constructor(work = SLICE, isUrgent = false) {
    this.#work = work
    this.#isUrgent = isUrgent
    this.#end = performance.now() + work
  }

  /** To be awaited before each step, if it is not null: the slice is used up then. A step takes less than a millisecond. */
  spent(): Promise<void> | null {
    return performance.now() < this.#end ? null : this.#rest()
  }

  /** {@link spent} for steps that are awaited. */
  async next(): Promise<void> {
    const rest = this.spent()
    if (rest !== null) await rest
  }

  async #rest(): Promise<void> {
    await (this.#isUrgent ? immediate() : turn())
    this.#end = performance.now() + this.#work
  }
}

/** @returns what the generator returns; each `next` is one step */
export async function inShares<R>(steps: Iterator<unknown, R>, share = new TimeShare()): Promise<R> {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
    const rest = share.spent()
    if (rest !== null) await rest
  }
}

/** The results for all items. Each takes less than a millisecond. */
export async function mapInShares<T, R>(
  items: Iterable<T>,
  resultOf: (item: T) => R,
  share = new TimeShare(),
): Promise<R[]> {
  const results: R[] = []
  for (const item of items) {
    const rest = share.spent()
    if (rest !== null) await rest
    results.push(resultOf(item))
  }
  return results
}

/** Whether each item has it. */
export async function everyInShares<T>(
  items: Iterable<T>,
  has: (item: T) => boolean,
  share = new TimeShare(),
): Promise<boolean> {
  for (const item of items) {
    const rest = share.spent()
    if (rest !== null) await rest
    if (!has(item)) return false
  }
  return true
}

/** Awaited memory never leaves the turn of the event loop by itself. */
function turn(): Promise<void> {
  return new Promise((resolve) => {
    if (waiting.push(resolve) === 1) setImmediate(resume)
  })
}

/** The next one is scheduled first: an immediate that is set while others run belongs to the next iteration. */
function resume(): void {
  const next = waiting.shift()
  if (waiting.length > 0) setImmediate(resume)
  next?.()
}
