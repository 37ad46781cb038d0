/**
 * Redis as it may be at its worst: it loses messages, delays and doubles them, forgets all it holds, or goes back to
 * what it held before. `redis-client.ts` is the way to it.
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

  /** Restarted, empty. */
  wipe(): void {
    this.#values.clear()
  }

  /** What a replica has, that lags behind. */
  copy(): void {
    this.#before = new Map(this.#values)
  }

  /** That replica takes over. */
  goBack(): void {
    this.#values.clear()
    for (const [key, value] of this.#before) this.#values.set(key, value)
  }
}
