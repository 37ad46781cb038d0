/**
 * LRU maps that share one bound of bytes. lru-cache bounds a single map; this bound covers several maps, can change at
 * run time, and is shared among tenants. A new entry evicts the least recently used entry of the tenant that holds
 * most, so that no tenant evicts another that holds less than an equal share.
 *
 * Keys begin with the tenant's id and a NUL.
 */

/** A link of the tenant's ring in order of use. */
interface Link {
  newer: Link
  older: Link
  readonly key: string
  readonly bytes: number
  /** Null for the sentinel. */
  readonly map: { delete(key: string): void } | null
  readonly share: Share
}

interface Entry<V> extends Link {
  readonly value: V
}

/** The largest fraction of the bound for one entry. */
const MAX_ENTRY = 1 / 8

/** The entries of one tenant. */
class Share {
  readonly tenant: string
  /** Sentinel of the ring: `newer` is the oldest entry, `older` the newest. */
  readonly sentinel: Link
  bytes = 0
  /** Index into the levels of {@link MemoryBudget}; -1: none. */
  level = -1

  constructor(tenant: string) {
    this.tenant = tenant
    const sentinel = { key: '', bytes: 0, map: null, share: this } as unknown as Link
    sentinel.newer = sentinel
    sentinel.older = sentinel
    this.sentinel = sentinel
  }
}

/** The bound of bytes that several maps share. */
export class MemoryBudget {
  readonly #shares = new Map<string, Share>()
  /** Shares by the power of two of their bytes, so that finding the largest does not visit every share. */
  readonly #levels: Set<Share>[] = []
  #limit: number
  #bytes = 0

  /** @param bytes held at most */
  constructor(bytes: number) {
    this.#limit = bytes
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#bytes
  }

  /** Tenants that hold entries. */
  get tenants(): number {
    return this.#shares.size
  }

  /** Evicts at once what exceeds the new bound. */
  resize(bytes: number): void {
    this.#limit = bytes
    this.#evict()
  }

  /** Whether an entry of this size is stored at all: a larger one would evict too many others. */
  accepts(bytes: number): boolean {
    return bytes <= this.#limit * MAX_ENTRY
  }

  share(key: string): Share {
    const at = key.indexOf('\0')
    const tenant = at < 0 ? '' : key.slice(0, at)
    const known = this.#shares.get(tenant)
    if (known !== undefined) return known
    const created = new Share(tenant)
    this.#shares.set(tenant, created)
    return created
  }

  add(entry: Link): void {
    link(entry, entry.share.sentinel)
    this.#count(entry.share, entry.bytes)
    this.#evict()
  }

  touch(entry: Link): void {
    const { sentinel } = entry.share
    if (sentinel.older === entry) return
    unlink(entry)
    link(entry, sentinel)
  }

  remove(entry: Link): void {
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
    else this.#sharesAt(level).add(share)
  }

  #sharesAt(level: number): Set<Share> {
    while (this.#levels.length <= level) this.#levels.push(new Set())
    return this.#levels[level] as Set<Share>
  }

  #evict(): void {
    while (this.#bytes > this.#limit) {
      const share = this.#largestShare()
      const oldest = share?.sentinel.newer
      if (oldest === undefined || oldest.map === null) return
      oldest.map.delete(oldest.key)
    }
  }

  /** A share within a factor of two of the largest; such shares take turns. */
  #largestShare(): Share | undefined {
    for (let level = this.#levels.length - 1; level >= 0; level--) {
      const sharesAt = this.#levels[level]
      const [share] = sharesAt ?? []
      if (share === undefined) continue
      sharesAt?.delete(share)
      sharesAt?.add(share)
      return share
    }
    return undefined
  }
}

/** Inserts the entry as the newest. */
function link(entry: Link, sentinel: Link): void {
  entry.older = sentinel.older
  entry.newer = sentinel
  sentinel.older.newer = entry
  sentinel.older = entry
}

function unlink({ newer, older }: Link): void {
  newer.older = older
  older.newer = newer
}

export class LruMap<V> {
  readonly #budget: MemoryBudget
  readonly #sizeOf: (key: string, value: V) => number
  readonly #entries = new Map<string, Entry<V>>()

  /** @param weigh bytes of an entry */
  constructor(budget: MemoryBudget, sizeOf: (key: string, value: V) => number) {
    this.#budget = budget
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#entries.size
  }

  get(key: string): { readonly value: V } | undefined {
    const entry = this.#entries.get(key)
    if (entry !== undefined) this.#budget.touch(entry)
    return entry
  }

  set(key: string, value: V): void {
    this.delete(key)
    const bytes = this.#sizeOf(key, value)
    if (!this.#budget.accepts(bytes)) return
    const share = this.#budget.share(key)
    const entry: Entry<V> = {
      newer: share.sentinel,
      older: share.sentinel,
      key,
      bytes,
      map: this,
      share,
      value,
    }
    this.#entries.set(key, entry)
    this.#budget.add(entry)
  }

  delete(key: string): void {
    const entry = this.#entries.get(key)
    if (entry === undefined) return
    this.#entries.delete(key)
    this.#budget.remove(entry)
  }

  clear(): void {
    for (const entry of this.#entries.values()) this.#budget.remove(entry)
    this.#entries.clear()
  }
}
