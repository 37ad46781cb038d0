/**
 * What has begun and not ended. No Set: each request adds to it and takes from it, and a Set then leaves its old tables
 * behind it, each pointing to the next; one that grew old keeps all that come after it, and what was in them, from
 * being collected cheaply (measured: 1.7 KB a request were copied, twice).
 */

export interface Slotted {
  /** Its place among those under way; -1 when it has none. */
  slot: number
}

export class InFlight<T extends Slotted> {
  readonly #all: T[] = []

  add(one: T): void {
    one.slot = this.#all.length
    this.#all.push(one)
  }

  /** It was added. */
  remove(one: T): void {
    const last = this.#all.pop()
    if (last === undefined) return
    if (last !== one) {
      this.#all[one.slot] = last
      last.slot = one.slot
    }
    one.slot = -1
  }

  get size(): number {
    return this.#all.length
  }

  has(one: T): boolean {
    return one.slot >= 0
  }

  /** Those of now. Nothing may be added or removed meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.#all.values()
  }
}
