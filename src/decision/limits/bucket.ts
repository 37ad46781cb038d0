/** A token bucket, and a bounded table of them. Time is monotonic ms and comes as an argument. */

import { createHash } from 'node:crypto'
import type { Filling } from '../../model/rate-limit.ts'

export class Bucket {
  tokens: number
  /** Up to when `tokens` includes what was added. */
  #at: number

  constructor(tokens: number, now: number) {
    this.tokens = tokens
    this.#at = now
  }

  /** Adds what the time since the last call gives. @returns the tokens, a fraction */
  refill({ capacity, rate }: Filling, now: number): number {
    this.tokens = Math.min(capacity, this.tokens + Math.max(0, now - this.#at) * rate)
    this.#at = now
    return this.tokens
  }
}

/** Milliseconds until a bucket with so many tokens has one; 0: it has. */
export function waitFor(tokens: number, rate: number): number {
  return tokens >= 1 ? 0 : (1 - tokens) / rate
}

/** Entries that are looked at for each one that finds the table full. */
const LOOKED_AT = 8
/** Keys beyond the bound share so many entries, by their hash. */
const SHARED = 1024

export interface TableOptions<E> {
  /**
   * @param key null: an entry that several keys share
   * @param like an entry whose tokens the new one must not exceed; null: a full one
   */
  readonly create: (key: string | null, like: E | null) => E
  /** Whether a new entry would grant no more than this one. */
  readonly isForgettable: (entry: E) => boolean
  readonly bound: number
}

/**
 * Entries by key. A full one is forgotten where another key needs its place; one that was used is not, as it would come
 * back full. Where no place is free, new keys share an entry with others: they may be refused sooner, and none gets more
 * than the limit.
 */
export class BoundedTable<E> {
  readonly #options: TableOptions<E>
  readonly #entries = new Map<string, E>()
  readonly #shared = new Map<number, E>()
  #hand = this.#entries.entries()

  constructor(options: TableOptions<E>) {
    this.#options = options
  }

  get size(): number {
    return this.#entries.size + this.#shared.size
  }

  get(key: string): E {
    return this.#entries.get(key) ?? this.#add(key)
  }

  #add(key: string): E {
    const { create, bound } = this.#options
    if (this.#entries.size >= bound) this.#forgetSome()
    const isFull = this.#entries.size >= bound
    const slot = this.#shared.size === 0 && !isFull ? -1 : slotOf(key)
    const shared = this.#shared.get(slot) ?? null
    if (isFull) return shared ?? this.#share(slot)
    if (shared !== null && this.#options.isForgettable(shared)) this.#shared.delete(slot)
    const entry = create(key, shared)
    this.#entries.set(key, entry)
    return entry
  }

  #share(slot: number): E {
    const entry = this.#options.create(null, null)
    this.#shared.set(slot, entry)
    return entry
  }

  /** Goes on where it stopped last time, so that each entry has its turn. */
  #forgetSome(): void {
    for (let looked = 0; looked < LOOKED_AT; looked++) {
      const { done, value } = this.#hand.next()
      if (done === true) this.#hand = this.#entries.entries()
      else if (this.#options.isForgettable(value[1])) this.#entries.delete(value[0])
    }
  }
}

function slotOf(key: string): number {
  return createHash('sha256').update(key).digest().readUInt16BE(0) % SHARED
}
