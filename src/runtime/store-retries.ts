/**
 * Retries at start-up while the store is slow or away. Logs once a second what it waits for, and gives up at
 * a bound. A store that reports that it is unusable, and a file that another gateway uses, end the start at
 * once.
 */

import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type StoreFault, StoreUnavailable } from '../../seats-admin/index.ts'
import type { Config } from '../config/config.ts'
import type { Log } from '../telemetry/logger.ts'
import { describeFault, SurroundingsFault } from './surroundings/fault.ts'
import { storeFault, storeFinding } from './surroundings/store-fault.ts'

/** Milliseconds between attempts, and between log lines. */
const RETRY_EVERY = 250
const LOG_EVERY = 1000

/** Whether the store may become usable by itself. */
export function isTransient(cause: unknown): cause is StoreUnavailable {
  return cause instanceof StoreUnavailable && TRANSIENT.has(cause.fault)
}

/** The store did not become usable in time. */
export class StartupTimeout extends SurroundingsFault {}

/** The cause until the first attempt fails. */
const NO_RESPONSE = new StoreUnavailable('the store has not responded yet', { fault: 'timeout' })

/** Transient faults: a store that is slow, busy or away may recover by itself. */
const TRANSIENT: ReadonlySet<StoreFault | null> = new Set<StoreFault>([
  'timeout',
  'unreachable',
  'overloaded',
  'locked',
])

type StartupSettings = Pick<Config, 'startupTimeout' | 'store' | 'sources'>

export class Startup {
  readonly #startedAt = performance.now()
  readonly #settings: StartupSettings
  readonly #log: Log
  /** The failure of the latest attempt; null if the start does not wait for the store. */
  #latest: StoreUnavailable | null = null

  /** `startup_timeout` runs from now on, for the whole start. */
  constructor(settings: StartupSettings, log: Log) {
    this.#settings = settings
    this.#log = log
  }

  /** The message of what the start waits for; null if it does not wait for the store. */
  get waitingFor(): string | null {
    return this.#latest?.message ?? null
  }

  /**
   * Attempts until one succeeds. Rejects with a SurroundingsFault for a fault of the store that is not
   * transient, and with a {@link StartupTimeout} at the bound.
   *
   * @param dispose disposes of the value of an attempt that succeeds too late
   */
  async retry<V>(attempt: () => Promise<V>, dispose: (value: V) => unknown = () => {}): Promise<V> {
    let ended = false
    this.#latest = NO_RESPONSE
    const { promise: bound, reject } = Promise.withResolvers<never>()
    const deadline = setTimeout(() => reject(this.#timedOut()), Math.max(this.#remaining, 0))
    const logging = setInterval(() => this.#logWait(), LOG_EVERY)
    const repeat = async (): Promise<V> => {
      for (;;) {
        try {
          const value = await attempt()
          if (ended) dispose(value)
          return value
        } catch (cause) {
          if (ended || !isTransient(cause)) throw storeFault(this.#settings, cause)
          this.#latest = cause
          if (this.#remaining <= 0) throw this.#timedOut()
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
      this.#latest = null
    }
  }

  get #waited(): number {
    return performance.now() - this.#startedAt
  }

  get #remaining(): number {
    return this.#settings.startupTimeout - this.#waited
  }

  #logWait(): void {
    const seconds = Math.round(this.#waited / 1000)
    const { sources } = this.#settings
    this.#log.logger.warn(
      { seconds, cause: describeFault(sources.store, this.#finding()) },
      'waiting for the store',
    )
    this.#log.flush()
  }

  #timedOut(): StartupTimeout {
    const { cause, advice } = this.#finding()
    const seconds = this.#settings.startupTimeout / 1000
    return new StartupTimeout(this.#settings.sources.store, {
      cause: `gave up after ${seconds} s (startup_timeout): ${cause}`,
      advice,
    })
  }

  #finding() {
    return storeFinding(this.#settings, this.#latest ?? NO_RESPONSE)
  }
}
