/**
 * Memory in front of the store: remembers what was read until told to forget, asks once however many wait, and never
 * keeps an answer that is older than a change it has been told of. Whether memory may be used at all is the lease's
 * business.
 *
 * Key: a string the caller builds. Question: what is asked about the key; an answer may cover all questions or that one.
 * Value: anything immutable. Bound: the rooms of the maps it is kept in, those used least lately first out.
 */

import type { Source, Trace } from '../../model/decision.ts'
import type { LruMap } from './lru-maps.ts'

/** A value, and the newest change that the store had seen when it was read. */
export interface AsOf<V> {
  readonly seq: number
  readonly value: V
  /** The store, when left out. */
  readonly source?: Source
}

/** What is remembered of one key: one answer to all questions, or answers by question. */
export interface Remembered<V> {
  readonly whole: V | undefined
  readonly parts: ReadonlyMap<string, V>
}

/** Readings of one key before giving up. More than one is rare: a change came in between. */
const MAX_TRIES = 20
/** Answers that are remembered of one key, where none covers all questions; the oldest goes first. */
const MAX_PARTS = 16

interface Reading<V> {
  readonly question: string
  /** Older answers don't count: a change this new has been heard of since the question was sent. */
  minSeq: number
  /** Everything was forgotten since the question was sent: its answer counts for nothing, whatever its number. */
  void: boolean
  source: Source
  readonly answer: Promise<V>
}

export interface ReadThroughParts<V, Q> {
  readonly load: (key: string, question: Q) => Promise<AsOf<V>>
  readonly remembered: LruMap<Remembered<V>>
  /** Where null is remembered: that something is not there; with the rest, when left out. */
  readonly unknown?: LruMap<Remembered<V>>
  /** Whether an answer covers all questions; all do, when left out. */
  readonly isWhole?: (value: V) => boolean
}

const NO_PARTS: ReadonlyMap<string, never> = new Map<string, never>()

/** Tells the questions about one key apart. */
export interface Question {
  readonly id: string
}

/** For what has one answer. */
export const WHOLE: Question = { id: '' }

export class ReadThrough<V, Q extends Question = Question> {
  readonly #load: (key: string, question: Q) => Promise<AsOf<V>>
  readonly #remembered: LruMap<Remembered<V>>
  readonly #unknown: LruMap<Remembered<V>>
  readonly #isWhole: (value: V) => boolean
  readonly #readings = new Map<string, Reading<V>[]>()

  constructor({ load, remembered, unknown = remembered, isWhole = () => true }: ReadThroughParts<V, Q>) {
    this.#load = load
    this.#remembered = remembered
    this.#unknown = unknown
    this.#isWhole = isWhole
  }

  get size(): number {
    const unknown = this.#unknown === this.#remembered ? 0 : this.#unknown.size
    return this.#remembered.size + unknown
  }

  /** At once from memory, or as soon as the store has answered. Rejects as the store does. */
  get(key: string, question: Q, trace?: Trace): V | Promise<V> {
    const known = this.#remembered.get(key) ?? this.#unknown.get(key)
    if (known !== undefined) {
      const { whole, parts } = known.value
      if (whole !== undefined) return whole
      const part = parts.get(question.id)
      if (part !== undefined) return part
    }
    const readings = this.#readings.get(key)
    const same = readings?.find((reading) => reading.question === question.id)
    if (same !== undefined) return answered(same, trace)
    // One answer mostly covers all questions: it is waited for, once, before another one is asked.
    const other = known === undefined ? readings?.[0] : undefined
    if (other === undefined) return answered(this.#begin(key, question), trace)
    return answered(other, trace).then(
      (value) => (this.#isWhole(value) ? value : this.#ask(key, question, trace)),
      () => this.#ask(key, question, trace),
    )
  }

  forget(key: string, seq: number): void {
    this.#remembered.delete(key)
    this.#unknown.delete(key)
    for (const reading of this.#readings.get(key) ?? []) reading.minSeq = Math.max(reading.minSeq, seq)
  }

  /** Numbers from before mean nothing any more: the store may be another one, which numbers anew. */
  forgetAll(): void {
    this.#remembered.clear()
    this.#unknown.clear()
    for (const readings of this.#readings.values())
      for (const reading of readings) {
        reading.void = true
        reading.minSeq = 0
      }
  }

  #ask(key: string, question: Q, trace: Trace | undefined): Promise<V> {
    const same = this.#readings.get(key)?.find((reading) => reading.question === question.id)
    return answered(same ?? this.#begin(key, question), trace)
  }

  #begin(key: string, question: Q): Reading<V> {
    const { promise, resolve, reject } = Promise.withResolvers<V>()
    const { id } = question
    const reading: Reading<V> = { question: id, minSeq: 0, void: false, source: 'memory', answer: promise }
    const readings = this.#readings.get(key)
    if (readings === undefined) this.#readings.set(key, [reading])
    else readings.push(reading)
    this.#readUntilFresh(key, question, reading).then(resolve, reject)
    return reading
  }

  async #readUntilFresh(key: string, question: Q, reading: Reading<V>): Promise<V> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        reading.void = false
        const { seq, value, source = 'store' } = await this.#load(key, question)
        reading.source = source
        if (reading.void || seq < reading.minSeq) continue
        this.#remember(key, reading.question, value)
        return value
      }
      throw new Error('the store keeps answering with a state older than its own change feed')
    } finally {
      this.#ended(key, reading)
    }
  }

  #ended(key: string, reading: Reading<V>): void {
    const rest = this.#readings.get(key)?.filter((other) => other !== reading) ?? []
    if (rest.length === 0) this.#readings.delete(key)
    else this.#readings.set(key, rest)
  }

  #remember(key: string, id: string, value: V): void {
    if (this.#isWhole(value)) {
      const map = value === null ? this.#unknown : this.#remembered
      return map.set(key, { whole: value, parts: NO_PARTS })
    }
    const parts = new Map(this.#remembered.get(key)?.value.parts).set(id, value)
    const [oldest] = parts.keys()
    if (parts.size > MAX_PARTS && oldest !== undefined) parts.delete(oldest)
    this.#remembered.set(key, { whole: undefined, parts })
  }
}

async function answered<V>(reading: Reading<V>, trace: Trace | undefined): Promise<V> {
  const value = await reading.answer
  if (trace !== undefined && trace.source !== 'store') trace.source = reading.source
  return value
}
