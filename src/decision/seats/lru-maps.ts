/**
 * LRU maps that share one bound of bytes, which can change at run time. A new entry evicts the least recently used entry
 * of the tenant that holds the most, from whichever map, so that no tenant evicts another that holds less than an equal
 * share.
 *
 * lru-cache is not used here, because `maxSize` bounds a single cache and is fixed. Caps for the tenants would divide the
 * bound among all that are configured, also while most of them are idle. With one cache per tenant and map, a hit takes
 * 0.75 of the time, but entries that are no longer used stay in one map while those in use are evicted from another. With
 * one cache per tenant, the key must contain the map, and a hit takes twice the time (340 ns, 170 here; medians of six
 * turns).
 *
 * A lookup takes the tenant and the id as two strings: callers have both at hand, and V8 hashes a new string at each use.
 */

import { textBytes } from '../../lib/heap-size.ts'
import { type Entry, Ledger } from '../../lib/ledger.ts'

/** What a map holds of a tenant. */
interface Held {
  readonly id: string
  readonly map: { delete(tenant: string, id: string): void }
}

interface HeldValue<V> extends Held {
  readonly value: V
}

/** The largest fraction of the bound for one entry. */
const MAX_ENTRY = 1 / 8

/** The bound of bytes that several maps share. */
export class MemoryBudget {
  /** By tenant, in order of use. Weights are bytes. */
  readonly #entries = new Ledger<Held>()
  #limit: number

  /** @param bytes held at most */
  constructor(bytes: number) {
    this.#limit = bytes
  }

  /** Bytes held. */
  get bytes(): number {
    return this.#entries.weight
  }

  /** Tenants that hold entries. */
  get tenants(): number {
    return [...this.#entries.accounts].length
  }

  /** Evicts at once what exceeds the new bound. */
  resize(bytes: number): void {
    this.#limit = bytes
    this.evict()
  }

  /** Whether an entry of this size is stored at all: a larger one would evict too many others. */
  accepts(bytes: number): boolean {
    return bytes <= this.#limit * MAX_ENTRY
  }

  /** Exceeds the bound until {@link evict}. */
  add<H extends Held>(tenant: string, held: H, bytes: number): Entry<H> {
    return this.#entries.add(held, [tenant], bytes) as Entry<Held> as Entry<H>
  }

  evict(): void {
    while (this.bytes > this.#limit) {
      const largest = this.#entries.largest()
      const oldest = largest?.first?.item
      if (largest === null || oldest === undefined) return
      oldest.map.delete(largest.name, oldest.id)
    }
  }
}

export class LruMap<V> {
  readonly #budget: MemoryBudget
  readonly #sizeOf: (tenant: string, id: string, value: V) => number
  /** By tenant and id; no map of a tenant is empty. */
  readonly #entries = new Map<string, Map<string, Entry<HeldValue<V>>>>()
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
    entry?.renew()
    return entry?.item
  }

  set(tenant: string, id: string, value: V): void {
    this.delete(tenant, id)
    const bytes = this.#sizeOf(tenant, id, value)
    if (!this.#budget.accepts(bytes)) return
    const held: HeldValue<V> = { id: copied(id), value, map: this }
    const entry = this.#budget.add(tenant, held, bytes)
    const ofTenant = this.#entries.get(tenant)
    if (ofTenant === undefined) this.#entries.set(tenant, new Map([[held.id, entry]]))
    else ofTenant.set(held.id, entry)
    this.#size++
    this.#budget.evict()
  }

  delete(tenant: string, id: string): void {
    const ofTenant = this.#entries.get(tenant)
    const entry = ofTenant?.get(id)
    if (ofTenant === undefined || entry === undefined) return
    ofTenant.delete(id)
    if (ofTenant.size === 0) this.#entries.delete(tenant)
    this.#size--
    entry.remove()
  }

  clear(): void {
    for (const ofTenant of this.#entries.values()) for (const entry of ofTenant.values()) entry.remove()
    this.#entries.clear()
    this.#size = 0
  }
}

/** Bytes of an entry: key, value and links. */
export function entryBytes(key: string, value: number): number {
  return LINKS + textBytes(key) + value
}

/** In the map and in the ledger. */
const LINKS = 360

/** A substring would keep the whole string that it was cut from in memory, perhaps a token. */
function copied(text: string): string {
  return `\0${text}`.slice(1)
}
