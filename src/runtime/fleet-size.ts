/**
 * The number of live instances, by their signs of life in the store. Rate limits are divided by it where instances can't share
 * them.
 */

import type { InstanceList } from '../coherence/feeds.ts'

/** Milliseconds between readings of the list, and without a sign of life until an instance does not count. */
const READ_EVERY = 1000
const SILENCE = 5000

interface Sign {
  beat: number
  /** Monotonic ms of the reading that first showed the beat. */
  at: number
}

export class FleetSize {
  readonly #list: InstanceList | null
  readonly #now: () => number
  readonly #signs = new Map<string, Sign>()
  readonly #changed: (size: number) => void
  #size = 1
  #timer: NodeJS.Timeout | null = null

  /**
   * @param list null: there is one instance
   * @param now monotonic ms
   * @param changed called with each new number
   */
  constructor(list: InstanceList | null, now: () => number, changed: (size: number) => void = () => {}) {
    this.#list = list
    this.#now = now
    this.#changed = changed
  }

  /** Live instances as of the last reading, at least one. */
  get size(): number {
    return this.#size
  }

  /** Reads the list from now on. Resolves with the first reading; nothing happens where it is read already. */
  async start(): Promise<void> {
    if (this.#list === null || this.#timer !== null) return
    this.#timer = setInterval(() => void this.read(), READ_EVERY).unref()
    await this.read()
  }

  stop(): void {
    clearInterval(this.#timer ?? undefined)
    this.#timer = null
  }

  /** Never rejects: without the store, the last number stays. */
  async read(): Promise<void> {
    const listed = await this.#list?.instances().catch(() => null)
    if (listed == null) return
    const now = this.#now()
    const ids = new Set(listed.map(({ id }) => id))
    for (const id of this.#signs.keys()) if (!ids.has(id)) this.#signs.delete(id)
    for (const { id, beat } of listed) {
      const sign = this.#signs.get(id)
      if (sign?.beat !== beat) this.#signs.set(id, { beat, at: now })
    }
    const live = [...this.#signs.values()].filter(({ at }) => now - at < SILENCE)
    const size = Math.max(1, live.length)
    if (size === this.#size) return
    this.#size = size
    this.#changed(size)
  }
}
