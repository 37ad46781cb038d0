/**
 * Bounded maps of what was used lately, which share one room. Two generations: what is used moves to the young one; when
 * that fills half of the room it becomes the old one, and the old one is dropped. Grows with what is in it, where an LRU
 * list of the same bound sets its memory aside beforehand (8 MiB for the Seats and keys of a gateway that holds none
 * yet).
 */

export interface Kept<V> {
  readonly value: V
  readonly bytes: number
}

/** What several maps may hold together, of whichever is used most. */
export class Room {
  readonly #maps: { turn(): void }[] = []
  #half = 0
  #young = 0
  #old = 0

  /** @param bytes held at most, but for one value more; what was used last is held for sure, up to half of it */
  constructor(bytes: number) {
    this.resize(bytes)
  }

  /** Held now: at least as much as there is. */
  get bytes(): number {
    return this.#young + this.#old
  }

  /** What is too much by then goes as more is used. */
  resize(bytes: number): void {
    this.#half = Math.max(1, Math.floor(bytes / 2))
    this.take(0)
  }

  join(map: { turn(): void }): void {
    this.#maps.push(map)
  }

  /** Something has come into the young generation. */
  take(bytes: number): void {
    this.#young += bytes
    if (this.#young >= this.#half) this.#turn()
  }

  /** Something has left it. */
  release(bytes: number): void {
    this.#young -= bytes
  }

  #turn(): void {
    for (const map of this.#maps) map.turn()
    this.#old = this.#young
    this.#young = 0
  }
}

export class Recent<V> {
  readonly #room: Room
  readonly #weigh: (key: string, value: V) => number
  #young = new Map<string, Kept<V>>()
  #old = new Map<string, Kept<V>>()
  /** Of the young generation. */
  #bytes = 0

  /** @param weigh bytes of an entry */
  constructor(room: Room, weigh: (key: string, value: V) => number) {
    this.#room = room
    this.#weigh = weigh
    room.join(this)
  }

  get size(): number {
    return this.#young.size + this.#old.size
  }

  get(key: string): Kept<V> | undefined {
    const young = this.#young.get(key)
    if (young !== undefined) return young
    const old = this.#old.get(key)
    if (old === undefined) return undefined
    this.#old.delete(key)
    this.#put(key, old)
    return old
  }

  set(key: string, value: V): void {
    this.delete(key)
    this.#put(key, { value, bytes: this.#weigh(key, value) })
  }

  delete(key: string): void {
    const young = this.#young.get(key)
    this.#young.delete(key)
    this.#old.delete(key)
    if (young !== undefined) this.#release(young.bytes)
  }

  clear(): void {
    this.#young = new Map()
    this.#old = new Map()
    this.#release(this.#bytes)
  }

  /** For {@link Room}: the young generation is the old one now. */
  turn(): void {
    this.#old = this.#young
    this.#young = new Map()
    this.#bytes = 0
  }

  #put(key: string, kept: Kept<V>): void {
    this.#young.set(key, kept)
    this.#bytes += kept.bytes
    this.#room.take(kept.bytes)
  }

  #release(bytes: number): void {
    this.#bytes -= bytes
    this.#room.release(bytes)
  }
}
