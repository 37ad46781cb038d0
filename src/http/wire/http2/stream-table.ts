/**
 * The open streams of a connection by id: an array in the order of ids. Ids only grow, so a new stream is
 * appended. A Map would keep ended streams from cheap collection (see `InFlight`).
 */

interface Numbered {
  /** The id, which is greater than the ids of all streams that were opened before. */
  readonly id: number
}

export class StreamTable<T extends Numbered> {
  readonly #all: T[] = []

  get size(): number {
    return this.#all.length
  }

  /** Its id is greater than all ids in the table. */
  add(stream: T): void {
    this.#all.push(stream)
  }

  get(id: number): T | undefined {
    const stream = this.#all[this.#indexOf(id)]
    return stream?.id === id ? stream : undefined
  }

  /** @returns whether it was there */
  delete(id: number): boolean {
    const all = this.#all
    const at = this.#indexOf(id)
    if (all[at]?.id !== id) return false
    // Array.prototype.copyWithin calls native code for each element.
    for (let to = at; to < all.length - 1; to++) all[to] = all[to + 1] as T
    all.pop()
    return true
  }

  clear(): void {
    this.#all.length = 0
  }

  /** The table must not change during the iteration. */
  [Symbol.iterator](): Iterator<T> {
    return this.#all.values()
  }

  /** The first index whose id is not less: binary search. */
  #indexOf(id: number): number {
    let [from, to] = [0, this.#all.length]
    while (from < to) {
      const middle = (from + to) >> 1
      if ((this.#all[middle]?.id ?? Infinity) < id) from = middle + 1
      else to = middle
    }
    return from
  }
}
