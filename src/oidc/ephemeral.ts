/**
 * Sign-ins under way, kept in the process: for one process without Redis. Bounded in number and size. When it is full
 * the oldest goes: anybody may begin a sign-in, and who floods it must not lock others out for the ten minutes that an
 * entry lives.
 */

import { performance } from 'node:perf_hooks'
import { LRUCache } from 'lru-cache'
import type { Ephemeral } from './ports.ts'

export interface EphemeralLimits {
  readonly maxEntries?: number
  /** Characters of all keys and values together. */
  readonly maxSize?: number
  /** Characters of one. */
  readonly maxEntry?: number
}

interface Entry {
  readonly value: string
  /** Monotonic ms. */
  readonly until: number
}

export class ProcessEphemeral implements Ephemeral {
  readonly #entries: LRUCache<string, Entry>
  readonly #maxEntry: number
  readonly #clock: () => number

  /** @param clock monotonic ms */
  constructor(limits: EphemeralLimits = {}, clock: () => number = () => performance.now()) {
    const { maxEntries = 20_000, maxSize = 32 * 1024 * 1024, maxEntry = 16 * 1024 } = limits
    this.#maxEntry = maxEntry
    this.#clock = clock
    this.#entries = new LRUCache({
      max: maxEntries,
      maxSize,
      sizeCalculation: ({ value }, key) => value.length + key.length,
    })
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    if (key.length + value.length > this.#maxEntry) throw new RangeError('too large to be kept')
    this.#entries.set(key, { value, until: this.#clock() + ttlMs })
  }

  async take(key: string): Promise<string | null> {
    const entry = this.#entries.peek(key)
    this.#entries.delete(key)
    return entry !== undefined && this.#clock() < entry.until ? entry.value : null
  }

  close(): void {
    this.#entries.clear()
  }

  /** How many are held, those too old included. */
  get size(): number {
    return this.#entries.size
  }
}
