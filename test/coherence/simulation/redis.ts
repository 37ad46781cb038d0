/**
 * A model of Redis at its worst: it loses, delays and duplicates messages, loses all values, or returns to earlier values.
 * `redis-client.ts` is its client.
 */

import type { BusReceiver } from '../../../src/coherence/bus.ts'
import type { Process } from './process.ts'

export interface Subscriber {
  readonly process: Process
  readonly receiver: BusReceiver
}

export class RedisModel {
  readonly subscribers = new Map<string, Subscriber>()
  readonly #values = new Map<string, string>()
  #before: ReadonlyMap<string, string> = new Map()

  get(key: string): string | null {
    return this.#values.get(key) ?? null
  }

  set(key: string, value: string): void {
    this.#values.set(key, value)
  }

  /** A restart without data. */
  clear(): void {
    this.#values.clear()
  }

  /** The state of a replica that lags behind. */
  copy(): void {
    this.#before = new Map(this.#values)
  }

  /** A failover to that replica. */
  failOver(): void {
    this.#values.clear()
    for (const [key, value] of this.#before) this.#values.set(key, value)
  }
}
