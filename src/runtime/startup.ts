/**
 * Retries at start-up while the store is slow or away. Logs once a second what it waits for, and gives up at a bound. A
 * store that reports that it is unusable, and a file that another gateway uses, end the start at once.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StoreFault, StoreUnavailable } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

/** Milliseconds between attempts, and between log lines. */
const RETRY_EVERY = 250
const LOG_EVERY = 1000

/** The store did not become usable in time. */
export class StartupTimeout extends Error {
  override readonly name = 'StartupTimeout'
}

/** Transient faults: a store that is slow, busy or away may recover by itself. */
const TRANSIENT: ReadonlySet<StoreFault | null> = new Set<StoreFault>([
  'timeout',
  'unreachable',
  'overloaded',
  'locked',
])

export class Startup {
  readonly #startedAt = performance.now()
  readonly #timeout: number
  readonly #log: Log
  /** What the start waits for: why the latest attempt failed. Null: not for the store. */
  waitingFor: string | null = null

  /** @param timeout ms from now on, for the whole start */
  constructor(timeout: number, log: Log) {
    this.#timeout = timeout
    this.#log = log
  }

  /**
   * Attempts until one succeeds. Rejects with the fault of an attempt that is not transient, and with a {@link
   * StartupTimeout} at the bound.
   *
   * @param dispose disposes of the value of an attempt that succeeds too late
   */
  async retry<V>(attempt: () => Promise<V>, dispose: (value: V) => unknown = () => {}): Promise<V> {
    let ended = false
    this.waitingFor = 'the store has not responded yet'
    const { promise: bound, reject } = Promise.withResolvers<never>()
    const deadline = setTimeout(() => reject(this.#timedOut()), Math.max(this.#timeout - this.#waited, 0))
    const logging = setInterval(() => this.#logWait(), LOG_EVERY)
    const repeat = async (): Promise<V> => {
      for (;;) {
        try {
          const value = await attempt()
          if (ended) dispose(value)
          return value
        } catch (cause) {
          if (ended || !(cause instanceof StoreUnavailable) || !TRANSIENT.has(cause.fault)) throw cause
          this.waitingFor = cause.message
          if (this.#waited >= this.#timeout) throw this.#timedOut()
        }
        await sleep(RETRY_EVERY)
      }
    }
    try {
      return await Promise.race([bound, repeat()])
    } finally {
      ended = true
      clearTimeout(deadline)
      clearInterval(logging)
      this.waitingFor = null
    }
  }

  get #waited(): number {
    return performance.now() - this.#startedAt
  }

  #logWait(): void {
    const seconds = Math.round(this.#waited / 1000)
    this.#log.logger.warn({ seconds, cause: this.waitingFor }, 'waiting for the store')
    this.#log.flush()
  }

  #timedOut(): StartupTimeout {
    const seconds = this.#timeout / 1000
    return new StartupTimeout(`gave up after ${seconds} s (startup_timeout): ${this.waitingFor}`)
  }
}
