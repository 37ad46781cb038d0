/**
 * Maps of what was used lately, which share one bound of bytes. lru-cache bounds one map by itself; here the bound is of
 * several together, may change meanwhile, and is shared out among tenants: a new entry evicts the least recently used
 * entry of the tenant that holds most, so one tenant never evicts another that holds less than an equal part.
 *
 * Keys begin with the tenant's id and a NUL.
 */

/** In the order of use: a ring through all entries of a tenant, and its ends. */
interface Place {
  newer: Place
  older: Place
  readonly key: string
  readonly bytes: number
  /** Null for the ends. */
  readonly map: { delete(key: string): void } | null
  readonly share: Share
}

interface Entry<V> extends Place {
  readonly value: V
}

/** The part of the bound that one entry may take. */
const LARGEST = 1 / 8

/** What one tenant holds. */
class Share {
  readonly tenant: string
  /** Its newer one is the oldest, its older one the newest. */
  readonly ends: Place
  bytes = 0
  /** Of {@link MemoryBudget}'s lists, the one that it is in; -1: none. */
  level = -1

  constructor(tenant: string) {
    this.tenant = tenant
    const ends = { key: '', bytes: 0, map: null, share: this } as unknown as Place
    ends.newer = ends
    ends.older = ends
    this.ends = ends
  }
}

/** What several maps may hold together. */
export class MemoryBudget {
  readonly #shares = new Map<string, Share>()
  /** By the power of two that they hold, so that the greediest is found without looking at all of them. */
  readonly #levels: Set<Share>[] = []
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

  /** Tenants that hold something. */
  get tenants(): number {
    return this.#shares.size
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

  share(key: string): Share {
    const at = key.indexOf('\0')
    const tenant = at < 0 ? '' : key.slice(0, at)
    const known = this.#shares.get(tenant)
    if (known !== undefined) return known
    const made = new Share(tenant)
    this.#shares.set(tenant, made)
    return made
  }

  add(entry: Place): void {
    link(entry, entry.share.ends)
    this.#count(entry.share, entry.bytes)
    this.#makeRoom()
  }

  used(entry: Place): void {
    const { ends } = entry.share
    if (ends.older === entry) return
    unlink(entry)
    link(entry, ends)
  }

  remove(entry: Place): void {
    unlink(entry)
    this.#count(entry.share, -entry.bytes)
  }

  #count(share: Share, bytes: number): void {
    this.#bytes += bytes
    share.bytes += bytes
    const level = share.bytes === 0 ? -1 : Math.floor(Math.log2(share.bytes))
    if (level === share.level) return
    this.#levels[share.level]?.delete(share)
    share.level = level
    if (level < 0) this.#shares.delete(share.tenant)
    else this.#list(level).add(share)
  }

  #list(level: number): Set<Share> {
    while (this.#levels.length <= level) this.#levels.push(new Set())
    return this.#levels[level] as Set<Share>
  }

  #makeRoom(): void {
    while (this.#bytes > this.#most) {
      const share = this.#greediest()
      const oldest = share?.ends.newer
      if (oldest === undefined || oldest.map === null) return
      oldest.map.delete(oldest.key)
    }
  }

  /** One of those that hold most, within a factor of two; of these, each in its turn. */
  #greediest(): Share | undefined {
    for (let level = this.#levels.length - 1; level >= 0; level--) {
      const list = this.#levels[level]
      const [share] = list ?? []
      if (share === undefined) continue
      list?.delete(share)
      list?.add(share)
      return share
    }
    return undefined
  }
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

export class LruMap<V> {
  readonly #room: MemoryBudget
  readonly #weigh: (key: string, value: V) => number
  readonly #entries = new Map<string, Entry<V>>()

  /** @param weigh bytes of an entry */
  constructor(room: MemoryBudget, weigh: (key: string, value: V) => number) {
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
    const share = this.#room.share(key)
    const entry: Entry<V> = { newer: share.ends, older: share.ends, key, bytes, map: this, share, value }
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
