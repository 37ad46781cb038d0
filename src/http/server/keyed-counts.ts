/** Counts items by key; an item may have several keys. */

export class KeyedCounts<T> {
  readonly #counts = new Map<string, number>()
  readonly #keys = new Map<T, readonly (string | null)[]>()

  get size(): number {
    return this.#keys.size
  }

  of(key: string | null): number {
    return key === null ? 0 : (this.#counts.get(key) ?? 0)
  }

  /** Counts an item once, even if it is added again. */
  add(item: T, keys: readonly (string | null)[]): void {
    if (this.#keys.has(item)) return
    this.#keys.set(item, keys)
    for (const key of keys) if (key !== null) this.#counts.set(key, this.of(key) + 1)
  }

  remove(item: T): void {
    const keys = this.#keys.get(item)
    if (keys === undefined) return
    this.#keys.delete(item)
    for (const key of keys) if (key !== null) this.#take(key)
  }

  #take(key: string): void {
    const count = this.of(key) - 1
    if (count > 0) this.#counts.set(key, count)
    else this.#counts.delete(key)
  }

  clear(): void {
    this.#counts.clear()
    this.#keys.clear()
  }
}
