/**
 * LRU maps that share one bound of bytes. lru-cache bounds a single map; this bound covers several maps, can change at
 * run time, and is shared among tenants. A new entry evicts the least recently used entry of the tenant that holds
 * most, so that no tenant evicts another that holds less than an equal share.
 *
 * A lookup takes the tenant and the id as two strings: callers have both at hand, and V8 hashes a new string at each use.
 */

/** A link of the tenant's ring in order of use. */
interface Link {
  newer: Link
  older: Link
  readonly tenant: string
  readonly id: string
  readonly bytes: number
  /** Null for the sentinel. */
  readonly map: { delete(tenant: string, id: string): void } | null
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
    const sentinel = { tenant, id: '', bytes: 0, map: null, share: this } as unknown as Link
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

  share(tenant: string): Share {
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
    else (this.#levels[level] ??= new Set()).add(share)
  }

  #evict(): void {
    while (this.#bytes > this.#limit) {
      const share = this.#largestShare()
      const oldest = share?.sentinel.newer
      if (oldest === undefined || oldest.map === null) return
      oldest.map.delete(oldest.tenant, oldest.id)
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
  readonly #sizeOf: (tenant: string, id: string, value: V) => number
  /** By tenant and id; no map of a tenant is empty. */
  readonly #entries = new Map<string, Map<string, Entry<V>>>()
  #size = 0

  /** @param sizeOf bytes of an entry */
  constructor(budget: MemoryBudget, sizeOf: (tenant: string, id: string, value: V) => number) {
    this.#budget = budget
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#size
  }

  get(tenant: string, id: string): { readonly value: V } | undefined {
    const entry = this.#entries.get(tenant)?.get(id)
    if (entry !== undefined) this.#budget.touch(entry)
    return entry
  }

  set(tenant: string, id: string, value: V): void {
    this.delete(tenant, id)
    const bytes = this.#sizeOf(tenant, id, value)
    if (!this.#budget.accepts(bytes)) return
    const share = this.#budget.share(tenant)
    const links = { newer: share.sentinel, older: share.sentinel }
    const entry: Entry<V> = { ...links, tenant, id: copied(id), bytes, map: this, share, value }
    const ofTenant = this.#entries.get(tenant)
    if (ofTenant === undefined) this.#entries.set(tenant, new Map([[entry.id, entry]]))
    else ofTenant.set(entry.id, entry)
    this.#size++
    this.#budget.add(entry)
  }

  delete(tenant: string, id: string): void {
    const ofTenant = this.#entries.get(tenant)
    const entry = ofTenant?.get(id)
    if (ofTenant === undefined || entry === undefined) return
    ofTenant.delete(id)
    if (ofTenant.size === 0) this.#entries.delete(tenant)
    this.#size--
    this.#budget.remove(entry)
  }

  clear(): void {
    for (const ofTenant of this.#entries.values())
      for (const entry of ofTenant.values()) this.#budget.remove(entry)
    this.#entries.clear()
    this.#size = 0
  }
}

/** A substring would keep the whole string that it was cut from in memory, perhaps a token. */
function copied(text: string): string {
  return `\0${text}`.slice(1)
}
