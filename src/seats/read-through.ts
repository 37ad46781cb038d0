/**
 * Memory in front of the store: remembers what was read until told to forget, asks once however many wait, and never
 * keeps an answer that is older than a change it has been told of. Whether memory may be used at all is the lease's
 * business.
 *
 * Key: a string the caller builds. Value: anything immutable. Bound: the rooms of the maps it is kept in, those used
 * least lately first out.
 */

import type { Source, Trace } from '../exchange.ts'
import type { Recent } from './recent.ts'

/** A value, and the newest change that the store had seen when it was read. */
export interface AsOf<V> {
  readonly seq: number
  readonly value: V
  /** The store, when left out. */
  readonly source?: Source
}

/** Readings of one key before giving up. More than one is rare: a change came in between. */
const MAX_TRIES = 20

interface Reading<V> {
  /** Older answers don't count: a change this new has been heard of since the question was sent. */
  minSeq: number
  /** Everything was forgotten since the question was sent: its answer counts for nothing, whatever its number. */
  void: boolean
  source: Source
  readonly answer: Promise<V>
}

export class ReadThrough<V> {
  readonly #load: (key: string) => Promise<AsOf<V>>
  readonly #remembered: Recent<V>
  readonly #unknown: Recent<V>
  readonly #readings = new Map<string, Reading<V>>()

  /** @param unknown where null is remembered: that something is not there; with the rest, when left out */
  constructor(remembered: Recent<V>, load: (key: string) => Promise<AsOf<V>>, unknown = remembered) {
    this.#remembered = remembered
    this.#unknown = unknown
    this.#load = load
  }

  get size(): number {
    const unknown = this.#unknown === this.#remembered ? 0 : this.#unknown.size
    return this.#remembered.size + unknown
  }

  /** At once from memory, or as soon as the store has answered. Rejects as the store does. */
  get(key: string, trace?: Trace): V | Promise<V> {
    const known = this.#remembered.get(key) ?? this.#unknown.get(key)
    if (known !== undefined) return known.value
    const reading = this.#readings.get(key) ?? this.#begin(key)
    return trace === undefined ? reading.answer : traced(reading, trace)
  }

  forget(key: string, seq: number): void {
    this.#remembered.delete(key)
    this.#unknown.delete(key)
    const reading = this.#readings.get(key)
    if (reading !== undefined) reading.minSeq = Math.max(reading.minSeq, seq)
  }

  /** Numbers from before mean nothing any more: the store may be another one, which numbers anew. */
  forgetAll(): void {
    this.#remembered.clear()
    this.#unknown.clear()
    for (const reading of this.#readings.values()) {
      reading.void = true
      reading.minSeq = 0
    }
  }

  #begin(key: string): Reading<V> {
    const { promise, resolve, reject } = Promise.withResolvers<V>()
    const reading: Reading<V> = { minSeq: 0, void: false, source: 'memory', answer: promise }
    this.#readings.set(key, reading)
    this.#readUntilFresh(key, reading).then(resolve, reject)
    return reading
  }

  async #readUntilFresh(key: string, reading: Reading<V>): Promise<V> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        reading.void = false
        const { seq, value, source = 'store' } = await this.#load(key)
        reading.source = source
        if (reading.void || seq < reading.minSeq) continue
        this.#remember(key, value)
        return value
      }
      throw new Error('the store keeps answering with a state older than its own change feed')
    } finally {
      this.#readings.delete(key)
    }
  }

  /** No map has the key: it would not have been read. */
  #remember(key: string, value: V): void {
    const map = value === null ? this.#unknown : this.#remembered
    map.set(key, value)
  }
}

async function traced<V>(reading: Reading<V>, trace: Trace): Promise<V> {
  const value = await reading.answer
  if (trace.source !== 'store') trace.source = reading.source
  return value
}
