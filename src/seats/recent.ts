/**
 * Maps of what was used lately, which share one room: what was used least lately goes first, whichever map it is in.
 * lru-cache bounds one map by itself; here the bound is of several together, and may change meanwhile.
 */

/** In the order of use: a ring through all entries of a room, and its ends. */
interface Place {
  newer: Place
  older: Place
  readonly key: string
  readonly bytes: number
  /** Null for the ends. */
  readonly map: { delete(key: string): void } | null
}

interface Entry<V> extends Place {
  readonly value: V
}

/** The part of a room that one entry may take. */
const LARGEST = 1 / 8

/** What several maps may hold together. */
export class Room {
  /** Its newer one is the oldest, its older one the newest. */
  readonly #ends: Place = emptyRing()
  #most: number
  #bytes = 0

  /** @param bytes held at most */
  constructor(bytes: number) {
    this.#most = bytes
  }

  /** Held now. */
  get bytes(): number {
    return this.#bytes
  }

  /** What is too much by then goes at once. */
  resize(bytes: number): void {
    this.#most = bytes
    this.#makeRoom()
  }

  /** Whether one of this size is held at all: larger ones would push out too many others. */
  takes(bytes: number): boolean {
    return bytes <= this.#most * LARGEST
  }

  add(entry: Place): void {
    this.#bytes += entry.bytes
    link(entry, this.#ends)
    this.#makeRoom()
  }

  used(entry: Place): void {
    if (this.#ends.older === entry) return
    unlink(entry)
    link(entry, this.#ends)
  }

  remove(entry: Place): void {
    this.#bytes -= entry.bytes
    unlink(entry)
  }

  #makeRoom(): void {
    while (this.#bytes > this.#most) {
      const { map, key } = this.#ends.newer
      if (map === null) return
      map.delete(key)
    }
  }
}

function emptyRing(): Place {
  const place = { key: '', bytes: 0, map: null } as Place
  place.newer = place
  place.older = place
  return place
}

/** As the newest. */
function link(entry: Place, ends: Place): void {
  entry.older = ends.older
  entry.newer = ends
  ends.older.newer = entry
  ends.older = entry
}

function unlink({ newer, older }: Place): void {
  newer.older = older
  older.newer = newer
}

export class Recent<V> {
  readonly #room: Room
  readonly #weigh: (key: string, value: V) => number
  readonly #entries = new Map<string, Entry<V>>()

  /** @param weigh bytes of an entry */
  constructor(room: Room, weigh: (key: string, value: V) => number) {
    this.#room = room
    this.#weigh = weigh
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): { readonly value: V } | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#room.used(entry)
    return entry
  }

  set(key: string, value: V): void {
    this.delete(key)
    const bytes = this.#weigh(key, value)
    if (!this.#room.takes(bytes)) return
    const entry: Entry<V> = { newer: NOWHERE, older: NOWHERE, key, bytes, map: this, value }
    this.#entries.set(key, entry)
    this.#room.add(entry)
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#room.remove(entry)
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#room.remove(entry)
    this.#entries.clear()
  }
}

/** Until it is linked. */
const NOWHERE = emptyRing()
