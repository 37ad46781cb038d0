/**
 * Owners whose requests were in flight when a target ended a connection of HTTP/2 with an error. One of the
 * requests may be the cause, and would end the next connection too. For some time, each request of these
 * owners has a connection of its own.
 */

import { performance } from 'node:perf_hooks'
import type { RequestOwner } from './upstream-request.ts'

/**
 * Milliseconds, doubled with each connection that ends. After its end, an entry stays for the longest time.
 */
const FIRST_TIME = 10_000
const LONGEST_TIME = 640_000
const MAX_OWNERS = 10_000

interface Suspicion {
  /** Milliseconds. */
  readonly time: number
  /** Monotonic ms. */
  readonly until: number
}

export class Suspects {
  /** The suspicions by owner, in the order in which they were last noted. */
  readonly #all = new Map<string, Suspicion>()
  /** Monotonic ms: the end of the last suspicion. */
  #until = -Infinity

  /** Read for each request. */
  get areNone(): boolean {
    return this.#until === -Infinity || this.#until < performance.now()
  }

  has(owner: RequestOwner): boolean {
    return (this.#all.get(keyOf(owner))?.until ?? -Infinity) > performance.now()
  }

  /** @param owners of the requests that one connection carried, each as often as it likes */
  note(owners: Iterable<RequestOwner>): void {
    const now = performance.now()
    for (const key of new Set([...owners].map(keyOf))) {
      const before = this.#all.get(key)
      const isFirst = before === undefined || before.until + LONGEST_TIME <= now
      const time = isFirst ? FIRST_TIME : Math.min(before.time * 2, LONGEST_TIME)
      this.#all.delete(key)
      this.#all.set(key, { time, until: now + time })
      this.#until = Math.max(this.#until, now + time)
    }
    this.#forget(now)
  }

  #forget(now: number): void {
    for (const [key, { until }] of this.#all) {
      if (this.#all.size <= MAX_OWNERS && until + LONGEST_TIME > now) return
      this.#all.delete(key)
    }
  }
}

function keyOf(owner: RequestOwner): string {
  return JSON.stringify(owner)
}
