/**
 * Work of requests that takes long, in slices between which the event loop serves other work. All such work
 * of the process shares one slice in each iteration of the loop and takes turns in it: a hundred of these
 * requests delay others no more than one does. `src/lib/time-slices.ts` is for work that no request waits
 * for.
 */

import { performance } from 'node:perf_hooks'
import { setImmediate as immediate } from 'node:timers/promises'

/** Milliseconds of a slice. A step that has begun is finished. */
const SLICE = 2

const waiting: (() => void)[] = []
/** The beginning of the slice of this iteration. */
let began = 0
/** {@link nextSlice} runs in the next iteration: this one has a slice. */
let isScheduled = false

export class TimeShare {
  readonly #work: number

  /** @param work ms in a row */
  constructor(work = SLICE) {
    this.#work = work
  }

  /**
   * To be called before each step. A step takes less than a millisecond.
   *
   * @returns null while the slice lasts; else a promise, which the caller awaits, of the next slice
   */
  spent(): Promise<void> | null {
    const now = performance.now()
    if (!isScheduled) {
      isScheduled = true
      began = now
      setImmediate(nextSlice)
    }
    return now < began + this.#work ? null : turn()
  }

  /** {@link spent} for steps that are awaited. */
  async next(): Promise<void> {
    const rest = this.spent()
    if (rest !== null) await rest
  }
}

/** The share of work that others wait for: it has a slice of its own in each iteration. */
export class UrgentShare extends TimeShare {
  #end = performance.now() + SLICE

  override spent(): Promise<void> | null {
    return performance.now() < this.#end ? null : this.#rest()
  }

  async #rest(): Promise<void> {
    await immediate()
    this.#end = performance.now() + SLICE
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
  return new Promise((resolve) => void waiting.push(resolve))
}

/**
 * The next one is scheduled first: an immediate that is set while others run belongs to the next iteration.
 */
function nextSlice(): void {
  const next = waiting.shift()
  isScheduled = next !== undefined
  if (next === undefined) return
  setImmediate(nextSlice)
  began = performance.now()
  next()
}
