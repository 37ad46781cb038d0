/**
 * What has begun and not ended. No Set: each request adds to it and takes from it, and a Set then leaves its old tables
 * behind it, each pointing to the next; one that grew old keeps all that come after it, and what was in them, from
 * being collected cheaply (measured: 1.7 KB a request were copied, twice).
 */

export interface Indexed {
  /** Its place among those under way; -1 when it has none. */
  index: number
}

export class InFlight<T extends Indexed> {
  readonly #all: T[] = []

  add(item: T): void {
    item.index = this.#all.length
    this.#all.push(item)
  }

  /** It was added. */
  remove(item: T): void {
    const last = this.#all.pop()
    if (last === undefined) return
    if (last !== item) {
      this.#all[item.index] = last
      last.index = item.index
    }
    item.index = -1
  }

  get size(): number {
    return this.#all.length
  }

  has(item: T): boolean {
    return item.index >= 0
  }

  /** Those of now. Nothing may be added or removed meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.#all.values()
  }
}
