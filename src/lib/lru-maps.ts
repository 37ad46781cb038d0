/**
 * LRU maps that share one bound, which can change at run time. A new entry evicts the least recently used
 * entry of the owner that holds the most, from whichever map. So no owner, a tenant as a rule, evicts an
 * entry of another that holds less than an equal share.
 *
 * lru-cache is not used, because `maxSize` bounds a single cache and is fixed. Caps for the tenants would
 * divide the bound among all that are configured, also while most of them are idle. With one cache per tenant
 * and map, a hit takes 0.75 of the time, but entries that are no longer used stay in one map while those in
 * use are evicted from another. With one cache per tenant, the key must contain the map, and a hit takes
 * twice the time (340 ns, 170 here; medians of six turns). For a cache of one owner and number keys,
 * lru-cache would save 11 ns of 38 (1,000 entries), which is too little for a second kind of map.
 *
 * A lookup takes the owner and the key separately: callers have both at hand, and V8 hashes a new string at
 * each use.
 */

import { textBytes } from './heap-size.ts'
import { type Entry, Ledger } from './ledger.ts'

/** The owner of entries that are not told apart by owner. */
export const ONE_OWNER = ''

type Key = string | number

/** What a map holds of an owner. */
interface Held {
  readonly key: Key
  readonly map: { delete(owner: string, key: Key): void }
}

interface HeldValue<V> extends Held {
  readonly value: V
}

/** The bound that several maps share, in the unit of their weights: bytes as a rule. */
export class LruBudget {
  /** The entries by owner, in order of use. */
  readonly #entries = new Ledger<Held>()
  readonly #largestEntry: number
  #limit: number

  /**
   * @param largestEntry the largest fraction of the limit for one entry: a larger one is not stored, as it
   *   would evict too many others
   */
  constructor(limit: number, largestEntry = 1 / 8) {
    this.#limit = limit
    this.#largestEntry = largestEntry
  }

  /** The weight of all entries. */
  get weight(): number {
    return this.#entries.weight
  }

  /** The number of owners that hold entries. */
  get owners(): number {
    return [...this.#entries.accounts].length
  }

  /** Evicts at once what exceeds the new limit. */
  resize(limit: number): void {
    this.#limit = limit
    this.evict()
  }

  /** Whether an entry of this weight is stored at all. */
  accepts(weight: number): boolean {
    return weight <= this.#limit * this.#largestEntry
  }

  /** Exceeds the limit until {@link evict}. */
  add<H extends Held>(owner: string, held: H, weight: number): Entry<H> {
    return this.#entries.add(held, [owner], weight) as Entry<Held> as Entry<H>
  }

  evict(): void {
    while (this.weight > this.#limit) {
      const largest = this.#entries.largest()
      const oldest = largest?.first?.item
      if (largest === null || oldest === undefined) return
      oldest.map.delete(largest.name, oldest.key)
    }
  }
}

export class LruMap<V, K extends Key = string> {
  readonly #budget: LruBudget
  readonly #weightOf: (owner: string, key: K, value: V) => number
  /** The entries by owner and key; no map of an owner is empty. */
  readonly #entries = new Map<string, Map<K, Entry<HeldValue<V>>>>()
  #size = 0

  constructor(budget: LruBudget, weightOf: (owner: string, key: K, value: V) => number) {
    this.#budget = budget
    this.#weightOf = weightOf
  }

  /** The number of entries. */
  get size(): number {
    return this.#size
  }

  get(owner: string, key: K): { readonly value: V } | undefined {
    const entry = this.#entries.get(owner)?.get(key)
    entry?.renew()
    return entry?.item
  }

  set(owner: string, key: K, value: V): void {
    this.delete(owner, key)
    const weight = this.#weightOf(owner, key, value)
    if (!this.#budget.accepts(weight)) return
    const ownKey = copied(key)
    const entry = this.#budget.add<HeldValue<V>>(owner, { key: ownKey, value, map: this }, weight)
    const ofOwner = this.#entries.get(owner)
    if (ofOwner === undefined) this.#entries.set(owner, new Map([[ownKey, entry]]))
    else ofOwner.set(ownKey, entry)
    this.#size++
    this.#budget.evict()
  }

  delete(owner: string, key: K): void {
    const ofOwner = this.#entries.get(owner)
    const entry = ofOwner?.get(key)
    if (ofOwner === undefined || entry === undefined) return
    ofOwner.delete(key)
    if (ofOwner.size === 0) this.#entries.delete(owner)
    this.#size--
    entry.remove()
  }

  /** Deletes the entries of an owner. */
  deleteAll(owner: string): void {
    const ofOwner = this.#entries.get(owner)
    if (ofOwner === undefined) return
    for (const entry of ofOwner.values()) entry.remove()
    this.#entries.delete(owner)
    this.#size -= ofOwner.size
  }

  clear(): void {
    for (const ofOwner of this.#entries.values()) for (const entry of ofOwner.values()) entry.remove()
    this.#entries.clear()
    this.#size = 0
  }
}

/** Bytes of an entry: key, value and links. */
export function entryBytes(key: string, value: number): number {
  return LINK_BYTES + textBytes(key) + value
}

/** Bytes of the objects and table entries that keep a value in the map and in the ledger. */
const LINK_BYTES = 360

/** A substring would keep the whole string that it was cut from in memory, perhaps a token. */
function copied<K extends Key>(key: K): K {
  return typeof key === 'string' ? (`\0${key}`.slice(1) as K) : key
}
