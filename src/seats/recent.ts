/**
 * A bounded map of what was used lately. Two generations: what is used moves to the young one; when that is full it
 * becomes the old one, and the old one is dropped. Grows with what is in it, where an LRU list of the same bound sets
 * its memory aside beforehand (8 MiB for the Seats and keys of a gateway that holds none yet).
 */

export class Recent<V extends object> {
  readonly #half: number
  readonly #weigh: (value: V) => number
  #young = new Map<string, V>()
  #old = new Map<string, V>()
  /** Of what came into the young generation since it began; what was deleted from it still counts. */
  #weight = 0

  /**
   * @param max weight held at most, but for one value more; what was used last is held for sure, up to half of it
   * @param weigh what a value weighs, always the same
   */
  constructor(max: number, weigh: (value: V) => number = () => 1) {
    this.#half = Math.max(1, Math.floor(max / 2))
    this.#weigh = weigh
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
    this.#weight += this.#weigh(value)
    if (this.#weight < this.#half) return
    this.#old = this.#young
    this.#young = new Map()
    this.#weight = 0
  }

  delete(key: string): void {
    this.#young.delete(key)
    this.#old.delete(key)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
    this.#weight = 0
  }
}
