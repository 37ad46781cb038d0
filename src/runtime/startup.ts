/**
 * What a start does while the store is slow or away: it asks again, says once a second what it waits for, and gives up
 * at a bound. A store that answers that it can't be used, and another one on the same file, end the start at once.
 */

import { performance } from 'node:perf_hooks'
import { type StoreFault, StoreUnavailable } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

/** Milliseconds between two attempts, and between two lines. */
const RETRY_EVERY = 250
const SAY_EVERY = 1000

/** The store did not become usable in time. */
export class StartupTimeout extends Error {
  override readonly name = 'StartupTimeout'
}

/** Faults of a store that is slow, busy or away: they may be gone in a while, whatever is done here. */
const PASSING: ReadonlySet<StoreFault | null> = new Set<StoreFault>([
  'timeout',
  'unreachable',
  'overloaded',
  'locked',
])

function passes({ fault }: StoreUnavailable): boolean {
  return PASSING.has(fault)
}

export class Startup {
  readonly #begun = performance.now()
  readonly #timeout: number
  readonly #log: Log
  /** Why the latest attempt failed; null while nothing is attempted. */
  #cause: string | null = null

  /** @param timeout ms from now on, for all that the start waits for */
  constructor(timeout: number, log: Log) {
    this.#timeout = timeout
    this.#log = log
  }

  /** What the start waits for; null when it is not the store. */
  get waitingFor(): string | null {
    return this.#cause
  }

  /**
   * Attempts until one succeeds. Rejects as an attempt does whose fault does not pass by itself, and with a
   * {@link StartupTimeout} at the bound.
   *
   * @param undo gets what an attempt gives that succeeds after that
   */
  async until<V>(attempt: () => Promise<V>, undo: (value: V) => unknown = () => {}): Promise<V> {
    let ended = false
    this.#cause = 'the store has not answered yet'
    const { promise: bound, reject } = Promise.withResolvers<never>()
    const deadline = setTimeout(() => reject(this.#late()), Math.max(this.#timeout - this.#waited, 0))
    const saying = setInterval(() => this.#say(), SAY_EVERY)
    try {
      return await Promise.race([bound, this.#repeat(attempt, undo, () => ended)])
    } finally {
      ended = true
      clearTimeout(deadline)
      clearInterval(saying)
      this.#cause = null
    }
  }

  get #waited(): number {
    return performance.now() - this.#begun
  }

  async #repeat<V>(
    attempt: () => Promise<V>,
    undo: (value: V) => unknown,
    hasEnded: () => boolean,
  ): Promise<V> {
    for (;;) {
      try {
        const value = await attempt()
        if (hasEnded()) undo(value)
        return value
      } catch (cause) {
        if (hasEnded() || !(cause instanceof StoreUnavailable) || !passes(cause)) throw cause
        this.#cause = cause.message
        if (this.#waited >= this.#timeout) throw this.#late()
      }
      await new Promise((resolve) => setTimeout(resolve, RETRY_EVERY))
    }
  }

  #say(): void {
    const seconds = Math.round(this.#waited / 1000)
    this.#log.logger.warn({ seconds, cause: this.waitingFor }, 'the start waits for the store')
    this.#log.flush()
  }

  #late(): StartupTimeout {
    const seconds = this.#timeout / 1000
    return new StartupTimeout(`gave up after ${seconds} s (startup_timeout): ${this.waitingFor}`)
  }
}
