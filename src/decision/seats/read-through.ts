/**
 * A read-through cache of the store. It keeps a value until it is invalidated, coalesces concurrent reads,
 * and never keeps a value older than an invalidation that it has received, or newer than what memory has
 * received of the change feed. The lease says whether the cache may be used at all.
 *
 * Key: tenant and id. Question: what is asked about the key; a value may cover all questions or only that
 * one. Value: immutable. Bound: the budgets of the maps, least recently used first out.
 */

import { Lookups } from '../../model/cache-lookups.ts'
import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import type { AwaitedRecord, Source, Trace } from '../../model/decision.ts'
import type { LruMap } from '../../lib/lru-maps.ts'
import type { ReceivedChanges } from './received-changes.ts'

/** A value, with the newest change that the store included when it read the value. */
export interface AsOf<V> {
  readonly seq: number
  readonly value: V
  /** Left out: the store. */
  readonly source?: Source
}

/** The cached values of one key: one that covers all questions, or values by question. */
export interface Cached<V> {
  readonly whole: V | undefined
  readonly byQuestion: ReadonlyMap<string, V>
}

/** The most reads of one key. A second read is rare: a change arrived during the first. */
const MAX_TRIES = 20
/** Values by question of one key; the oldest is evicted first. */
const MAX_QUESTIONS = 16

interface Read<V> {
  readonly question: string
  /** A result from before this change is discarded: the change was received after the read began. */
  minSeq: number
  /**
   * The result is discarded, whatever its number: the cache was cleared after the read began, or a newer one
   * is wanted.
   */
  void: boolean
  source: Source
  /** The position of the change feed at which the result counts. */
  asOf: number
  readonly result: Promise<V>
}

export interface ReadThroughOptions<V, Q> {
  /** The kind of the records. */
  readonly kind: ChangeKind
  readonly received: ReceivedChanges
  readonly load: (tenant: string, id: string, question: Q) => Promise<AsOf<V>>
  readonly cache: LruMap<Cached<V>>
  /** The map for null, a missing record; left out: `cache`. */
  readonly missing?: LruMap<Cached<V>>
  /** Whether a value covers all questions; left out: every value does. */
  readonly isWhole?: (value: V) => boolean
  readonly lookups?: Lookups
}

const NONE_BY_QUESTION: ReadonlyMap<string, never> = new Map<string, never>()

/** The key of a record: a tenant contains no NUL. */
const keyOf = (tenant: string, id: string) => ({ tenant, id, text: `${tenant}\0${id}` })
type Key = ReturnType<typeof keyOf>

/** Distinguishes the questions about one key. */
export interface Question {
  readonly id: string
}

/** The question about keys that have only one. */
export const WHOLE: Question = { id: '' }

export class ReadThrough<V, Q extends Question = Question> {
  readonly #kind: ChangeKind
  readonly #received: ReceivedChanges
  readonly #load: (tenant: string, id: string, question: Q) => Promise<AsOf<V>>
  readonly #cached: LruMap<Cached<V>>
  readonly #missing: LruMap<Cached<V>>
  readonly #isWhole: (value: V) => boolean
  readonly #lookups: Lookups
  readonly #reads = new Map<string, Read<V>[]>()

  constructor(options: ReadThroughOptions<V, Q>) {
    const { load, cache, missing = cache, isWhole = () => true, lookups = new Lookups() } = options
    this.#kind = options.kind
    this.#received = options.received
    this.#lookups = lookups
    this.#load = load
    this.#cached = cache
    this.#missing = missing
    this.#isWhole = isWhole
  }

  get size(): number {
    const missing = this.#missing === this.#cached ? 0 : this.#missing.size
    return this.#cached.size + missing
  }

  /**
   * The value. Synchronous on a hit. Rejects as the store does.
   *
   * @param record the key of its changes
   */
  get(tenant: string, id: string, question: Q, trace?: Trace, record = id): V | Promise<V> {
    const cached = this.#cached.get(tenant, id) ?? this.#missing.get(tenant, id)
    if (cached !== undefined) {
      const { whole, byQuestion } = cached.value
      // Null is a value: a missing record.
      const value = whole === undefined ? byQuestion.get(question.id) : whole
      if (value !== undefined) {
        this.#lookups.hits++
        trace?.found(this.#kind, tenant, record)
        return value
      }
    }
    this.#lookups.misses++
    const key = keyOf(tenant, id)
    const awaited = trace?.awaited(this.#kind, tenant, record)
    const reads = this.#reads.get(key.text)
    const same = reads?.find((read) => read.question === question.id)
    if (same !== undefined) return settled(same, trace, awaited)
    // One value mostly covers all questions: wait once for the read in flight before starting another.
    const other = cached === undefined ? reads?.[0] : undefined
    if (other === undefined) return settled(this.#begin(key, question), trace, awaited)
    return settled(other, trace, awaited).then(
      (value) => (this.#isWhole(value) ? value : this.#join(key, question, trace, awaited)),
      () => this.#join(key, question, trace, awaited),
    )
  }

  /** The value that the source has now. A read in flight may have begun before, and is made again. */
  getNow(tenant: string, id: string, question: Q, trace?: Trace): V | Promise<V> {
    this.invalidate(tenant, id, 0)
    for (const read of this.#reads.get(keyOf(tenant, id).text) ?? []) read.void = true
    return this.get(tenant, id, question, trace)
  }

  invalidate(tenant: string, id: string, seq: number): void {
    this.#cached.delete(tenant, id)
    this.#missing.delete(tenant, id)
    for (const read of this.#reads.get(keyOf(tenant, id).text) ?? []) read.minSeq = Math.max(read.minSeq, seq)
  }

  /** Forgets the values of a tenant. A result in flight counts only if its state includes change `seq`. */
  invalidateTenant(tenant: string, seq: number): void {
    this.#cached.deleteAll(tenant)
    this.#missing.deleteAll(tenant)
    const { text: prefix } = keyOf(tenant, '')
    for (const [key, reads] of this.#reads)
      if (key.startsWith(prefix)) for (const read of reads) read.minSeq = Math.max(read.minSeq, seq)
  }

  /**
   * Forgets everything. Earlier numbers have no meaning then: another store may have taken the place of the
   * former.
   */
  clear(): void {
    this.#cached.clear()
    this.#missing.clear()
    for (const reads of this.#reads.values())
      for (const read of reads) {
        read.void = true
        read.minSeq = 0
      }
  }

  #join(key: Key, question: Q, trace: Trace | undefined, awaited: AwaitedRecord | undefined): Promise<V> {
    const same = this.#reads.get(key.text)?.find((read) => read.question === question.id)
    return settled(same ?? this.#begin(key, question), trace, awaited)
  }

  #begin(key: Key, question: Q): Read<V> {
    const { promise, resolve, reject } = Promise.withResolvers<V>()
    const { id } = question
    const read: Read<V> = {
      question: id,
      minSeq: 0,
      void: false,
      source: 'memory',
      asOf: Infinity,
      result: promise,
    }
    const reads = this.#reads.get(key.text)
    if (reads === undefined) this.#reads.set(key.text, [read])
    else reads.push(read)
    this.#readUntilFresh(key, question, read).then(resolve, reject)
    return read
  }

  async #readUntilFresh(key: Key, question: Q, read: Read<V>): Promise<V> {
    try {
      for (let tries = 0; tries < MAX_TRIES; tries++) {
        read.void = false
        const { seq, value, source = 'store' } = await this.#load(key.tenant, key.id, question)
        read.source = source
        // The store may show what memory has not been told of: other values in memory are from before.
        if (seq > this.#received.position) await this.#received.receive(seq)
        if (read.void || seq < read.minSeq) continue
        this.#store(key, read.question, value)
        read.asOf = this.#received.position
        return value
      }
      throw new Error('the store keeps returning a state older than its own change feed')
    } finally {
      this.#removeRead(key, read)
    }
  }

  #removeRead(key: Key, read: Read<V>): void {
    const rest = this.#reads.get(key.text)?.filter((other) => other !== read) ?? []
    if (rest.length === 0) this.#reads.delete(key.text)
    else this.#reads.set(key.text, rest)
  }

  #store({ tenant, id }: Key, question: string, value: V): void {
    if (this.#isWhole(value)) {
      const map = value === null ? this.#missing : this.#cached
      return map.set(tenant, id, { whole: value, byQuestion: NONE_BY_QUESTION })
    }
    const byQuestion = new Map(this.#cached.get(tenant, id)?.value.byQuestion).set(question, value)
    const [oldest] = byQuestion.keys()
    if (byQuestion.size > MAX_QUESTIONS && oldest !== undefined) byQuestion.delete(oldest)
    this.#cached.set(tenant, id, { whole: undefined, byQuestion })
  }
}

async function settled<V>(
  read: Read<V>,
  trace: Trace | undefined,
  awaited: AwaitedRecord | undefined,
): Promise<V> {
  const value = await read.result
  if (awaited !== undefined) awaited.asOf = read.asOf
  if (trace !== undefined && trace.source !== 'store') trace.source = read.source
  return value
}
