/**
 * A table of the token buckets of rate limits, with a bound on their number. The bucket of a key that has all
 * its tokens gives up its place to another key. A bucket that lacks tokens keeps its place: the key would come
 * back with all tokens, and its caller would get more than the limit. If no place is free, the owner with the
 * most buckets makes room: its keys share buckets, by their hash, and may be refused sooner. So no owner takes
 * the places of other owners.
 */

import { createHash } from 'node:crypto'
import { getOrInsertComputed } from '../../lib/get-or-insert.ts'
import { type Entry as Place, Ledger } from '../../lib/ledger.ts'

/** The entries that are examined for each key that has no place. */
const LOOKED_AT = 8
/** The shared entries of an owner that has no place for its keys. */
const SHARED = 1024

interface TableOptions<E> {
  /**
   * @param key null: several keys of the owner share the entry
   *
   * @param like an entry whose tokens the new one must not exceed; null: a full one
   */
  readonly create: (key: string | null, owner: string, like: E | null) => E
  /** Whether a new entry would grant no more than this one. */
  readonly isForgettable: (entry: E) => boolean
  /** The one of two that grants less. */
  readonly poorer: (one: E, other: E) => E
  readonly bound: number
}

interface Kept<E> {
  readonly key: string
  readonly entry: E
}

export class BoundedTable<E> {
  readonly #options: TableOptions<E>
  readonly #entries = new Map<string, Place<Kept<E>>>()
  /** The places of each owner, the oldest first. */
  readonly #places = new Ledger<Kept<E>>()
  /** Owner → slot → shared entry. */
  readonly #shared = new Map<string, Map<number, E>>()
  #hand = this.#entries.values()

  constructor(options: TableOptions<E>) {
    this.#options = options
  }

  get size(): number {
    let size = this.#entries.size
    for (const shared of this.#shared.values()) size += shared.size
    return size
  }

  /** @param owner of the key, always the same */
  get(key: string, owner: string): E {
    return this.#entries.get(key)?.item.entry ?? this.#add(key, owner)
  }

  #add(key: string, owner: string): E {
    const { create, bound, isForgettable } = this.#options
    if (this.#entries.size >= bound) this.#forgetSome()
    if (this.#entries.size >= bound) this.#makeRoomFor(owner)
    const shared = this.#shared.get(owner)
    if (this.#entries.size >= bound) return shared?.get(slotOf(key)) ?? this.#share(owner, key, null)
    const like = shared?.get(slotOf(key)) ?? null
    if (like !== null && isForgettable(like)) this.#unshare(owner, key)
    const kept = { key, entry: create(key, owner, like) }
    this.#entries.set(key, this.#places.add(kept, [owner]))
    return kept.entry
  }

  /** @param like an entry whose tokens the shared one must not exceed; null: a full one */
  #share(owner: string, key: string, like: E | null): E {
    const slots = getOrInsertComputed(this.#shared, owner, () => new Map<number, E>())
    const [slot, created] = [slotOf(key), this.#options.create(null, owner, like)]
    const before = slots.get(slot)
    const entry = before === undefined ? created : this.#options.poorer(before, created)
    slots.set(slot, entry)
    return entry
  }

  #unshare(owner: string, key: string): void {
    const slots = this.#shared.get(owner)
    slots?.delete(slotOf(key))
    if (slots?.size === 0) this.#shared.delete(owner)
  }

  /** Continues after the entry of the last call, so that each has its turn. */
  #forgetSome(): void {
    for (let looked = 0; looked < LOOKED_AT; looked++) {
      const { done, value } = this.#hand.next()
      if (done === true) this.#hand = this.#entries.values()
      else if (this.#options.isForgettable(value.item.entry)) this.#remove(value)
    }
  }

  /** Moves the oldest key of the owner with the most entries to a shared one, unless `owner` has as many. */
  #makeRoomFor(owner: string): void {
    const most = this.#places.greedierThan([owner])
    const oldest = most?.first ?? null
    if (most === null || oldest === null) return
    this.#share(most.name, oldest.item.key, oldest.item.entry)
    this.#remove(oldest)
  }

  #remove(place: Place<Kept<E>>): void {
    this.#entries.delete(place.item.key)
    place.remove()
  }
}

function slotOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt16BE(0) % SHARED
}
