/**
 * Writes the last uses of API keys to the store, in the background. What could not be written is tried again
 * in the next round; what a crash loses is not written.
 */

import type { KeyUse, Store } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

export interface KeyUseWriterOptions {
  readonly store: Pick<Store, 'recordKeyUse'>
  /** The uses since the last call. Never rejects. */
  readonly take: () => Promise<readonly KeyUse[]>
  readonly log: Log
  /** Milliseconds between rounds, and between two writes of one key. */
  readonly every?: number
  readonly everyOfKey?: number
}

const EVERY = 60_000
const EVERY_OF_KEY = 5 * 60_000
/** The most keys of a statement. */
const BATCH = 1000
/** The most keys that wait, and the most keys whose last write is remembered. */
const MAX_KEYS = 100_000
/** The most milliseconds of the last round, which an orderly end waits for. */
const LAST_ROUND = 2000

export class KeyUseWriter {
  readonly #options: Required<KeyUseWriterOptions>
  readonly #waiting = new Map<string, KeyUse>()
  /** Monotonic ms by key. */
  readonly #written = new Map<string, number>()
  readonly #timer: NodeJS.Timeout
  #round: Promise<void> | null = null
  #failing = false

  constructor(options: KeyUseWriterOptions) {
    this.#options = { every: EVERY, everyOfKey: EVERY_OF_KEY, ...options }
    this.#timer = setInterval(() => void this.#next(false), this.#options.every)
    this.#timer.unref()
  }

  /** The number of keys that wait. */
  get waiting(): number {
    return this.#waiting.size
  }

  /** Writes all that waits, unless the store takes too long. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    // The global timer, which tests hold.
    const late = Promise.withResolvers<void>()
    const timer = setTimeout(late.resolve, LAST_ROUND)
    await Promise.race([this.#last(), late.promise])
    clearTimeout(timer)
  }

  async #last(): Promise<void> {
    await this.#round
    await this.#next(true)
  }

  /** One round at a time: a slow store gets no second one. */
  #next(all: boolean): Promise<void> {
    this.#round ??= this.#write(all).finally(() => {
      this.#round = null
    })
    return this.#round
  }

  async #write(all: boolean): Promise<void> {
    for (const use of await this.#options.take()) this.#add(use)
    const now = performance.now()
    const due = [...this.#waiting].filter(([key]) => all || !this.#writtenSince(key, now))
    for (let at = 0; at < due.length; at += BATCH)
      if (!(await this.#writeBatch(due.slice(at, at + BATCH), now))) return
    for (const key of this.#written.keys()) if (!this.#writtenSince(key, now)) this.#written.delete(key)
  }

  #add(use: KeyUse): void {
    const key = `${use.tenant}/${use.id}`
    const last = this.#waiting.get(key)
    if (last === undefined ? this.#waiting.size < MAX_KEYS : last.at < use.at) this.#waiting.set(key, use)
  }

  #writtenSince(key: string, now: number): boolean {
    const at = this.#written.get(key)
    return at !== undefined && now - at < this.#options.everyOfKey
  }

  async #writeBatch(batch: readonly (readonly [string, KeyUse])[], now: number): Promise<boolean> {
    try {
      await this.#options.store.recordKeyUse(batch.map(([, use]) => use))
    } catch (cause) {
      this.#failed(cause)
      return false
    }
    this.#failing = false
    for (const [key] of batch) {
      this.#waiting.delete(key)
      if (this.#written.size < MAX_KEYS) this.#written.set(key, now)
    }
    return true
  }

  /** Logs the first failure until a write succeeds. */
  #failed(cause: unknown): void {
    if (!this.#failing)
      this.#options.log.logger.warn({ cause: String(cause) }, 'the last uses of API keys wait for the store')
    this.#failing = true
  }
}
