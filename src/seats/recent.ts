/**
 * A bounded map of what was used lately. Two generations: what is used moves to the young one; when that is full it
 * becomes the old one, and the old one is dropped. Grows with what is in it, where an LRU list of the same bound sets
 * its memory aside beforehand (8 MiB for the Seats and keys of a gateway that holds none yet).
 */

export class Recent<V extends object> {
  readonly #half: number
  #young = new Map<string, V>()
  #old = new Map<string, V>()

  /** @param max entries held at most; the half of them used last are held for sure */
  constructor(max: number) {
    this.#half = Math.max(1, Math.floor(max / 2))
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): V | undefined {
    const value = this.#young.get(key)
    if (value !== undefined) return value
    const older = this.#old.get(key)
    if (older !== undefined) this.set(key, older)
    return older
  }

  set(key: string, value: V): void {
    this.#old.delete(key)
    this.#young.set(key, value)
    if (this.#young.size < this.#half) return
    this.#old = this.#young
    this.#young = new Map()
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
  }
}
