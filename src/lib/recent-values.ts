/**
 * A cache of values that are derived from objects and can be made again. Two generations bound their number
 * without an order of use. If the young generation is full, it becomes the old one, and the old one is
 * dropped.
 */

/** The number of writes to a generation, and so the bound of its values. */
const MAX_VALUES = 4096

export class RecentValues<Key extends object, Value> {
  #young = new WeakMap<Key, Value>()
  #old = new WeakMap<Key, Value>()
  #size = 0

  get(key: Key): Value | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const old = this.#old.get(key)
    if (old !== undefined) this.set(key, old)
    return old
  }

  set(key: Key, value: Value): void {
    if (++this.#size > MAX_VALUES) {
      this.#old = this.#young
      this.#young = new WeakMap()
      this.#size = 1
    }
    this.#young.set(key, value)
  }
}
