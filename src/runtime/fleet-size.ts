/**
 * The number of live instances, by their signs of life in the store. Rate limits are divided by it if
 * instances can't share them.
 */

import type { Registry } from '../../seats-admin/index.ts'

/** Milliseconds between readings of the list, and without a sign of life until an instance does not count. */
const READ_EVERY = 1000
const SILENCE = 5000

interface Sign {
  readonly beat: number
  /** Monotonic ms of the reading that first showed the beat. */
  readonly at: number
}

export class FleetSize {
  readonly #list: Pick<Registry, 'instances'> | null
  readonly #now: () => number
  #signs = new Map<string, Sign>()
  #size = 1
  #timer: NodeJS.Timeout | null = null
  /** Called when the number has changed. */
  changed: () => void = () => {}

  /**
   * @param list null: there is one instance
   * @param now monotonic ms
   */
  constructor(list: Pick<Registry, 'instances'> | null, now: () => number) {
    this.#list = list
    this.#now = now
  }

  /** The number of live instances as of the last reading, at least one. */
  get size(): number {
    return this.#size
  }

  /** Reads the list periodically. Resolves with the first reading; does nothing if it has begun already. */
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
    const signs = listed.map(({ id, beat }): [string, Sign] => {
      const last = this.#signs.get(id)
      return [id, last?.beat === beat ? last : { beat, at: now }]
    })
    this.#signs = new Map(signs)
    const live = [...this.#signs.values()].filter(({ at }) => now - at < SILENCE)
    const size = Math.max(1, live.length)
    if (size === this.#size) return
    this.#size = size
    this.changed()
  }
}
