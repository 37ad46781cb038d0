/**
 * The records that one decision reads, and the decision on one state: all of its records as of one position
 * of the change feed.
 *
 * Until a decision first waits, it reads memory at one position. The changes that arrive from then on are
 * kept. The decision holds at the position at its end, unless one of its records has changed since it was
 * read.
 */

import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import type { AwaitedRecord, Source, Trace } from '../../model/decision.ts'
import type { ReadRecord, ReceivedChanges, Wait } from './received-changes.ts'
import type { AsOf } from './read-through.ts'

/** A record with `asOf` Infinity until it is read. */
type OpenRecord = ReadRecord & AwaitedRecord

export class DecisionReads implements Trace {
  source: Source = 'memory'
  readonly #received: ReceivedChanges
  /** Kind, tenant and key of each record of memory before the decision waits, one after the other. */
  #noted: string[] = []
  /** The position of the change feed at which these were read. */
  #notedAsOf = 0
  /** Null until the decision waits. */
  #records: OpenRecord[] | null = null
  /** Null until the decision waits. */
  #wait: Wait | null = null
  #hasEnded = false
  #isOutdated = false

  constructor(received: ReceivedChanges) {
    this.#received = received
  }

  found(kind: ChangeKind, tenant: string, key: string): void {
    if (this.#wait === null) this.#noted.push(kind, tenant, key)
    else this.#read(kind, tenant, key, this.#received.position)
  }

  awaited(kind: ChangeKind, tenant: string, key: string): AwaitedRecord {
    this.wait()
    return this.#read(kind, tenant, key, Infinity)
  }

  #read(kind: ChangeKind, tenant: string, key: string, asOf: number): OpenRecord {
    const record = { kind, tenant, key, asOf, since: this.#received.next }
    this.#records?.push(record)
    return record
  }

  async read<V>(kind: ChangeKind, tenant: string, key: string, load: () => Promise<AsOf<V>>): Promise<V> {
    const record = this.awaited(kind, tenant, key)
    const { seq, value } = await load()
    await this.#received.receive(seq)
    record.asOf = seq
    this.source = 'store'
    return value
  }

  /**
   * The decision waits: whatever it has read so far may change from now on. In the same task as the reads.
   */
  wait(): void {
    // A read may still begin after another one of the decision has failed.
    if (this.#wait !== null || this.#hasEnded) return
    this.#notedAsOf = this.#received.position
    this.#wait = this.#received.wait()
    this.#records = []
  }

  discard(): void {
    this.#noted = []
    if (this.#wait === null) return
    this.#records = []
    this.#received.end(this.#wait)
    this.#wait = this.#received.wait()
  }

  outdated(): void {
    this.#isOutdated = true
  }

  /**
   * Whether no state was one that the decision read: a record has changed since, and others were read later.
   */
  get isTorn(): boolean {
    if (this.#wait === null) return false
    return this.#isOutdated || this.#received.concerns(this.#wait, this.#recordsSince(this.#wait))
  }

  *#recordsSince({ since }: Wait): Generator<ReadRecord> {
    yield* this.#records ?? []
    for (let at = 0; at < this.#noted.length; at += 3) {
      const [kind, tenant = '', key = ''] = this.#noted.slice(at, at + 3)
      yield { kind: kind as ChangeKind, tenant, key, asOf: this.#notedAsOf, since }
    }
  }

  /** The decision is made. */
  end(): void {
    if (this.#wait !== null) this.#received.end(this.#wait)
    this.#wait = null
    this.#hasEnded = true
  }
}

/** The most times that a decision is made again. */
const MOST_REPEATS = 3

/**
 * Decides on one state. Synchronous if the decision is. Rejects as it does, and if a record that it reads
 * keeps changing.
 *
 * @param decide reads records with this trace alone, and has no effects
 */
export function decideOnOneState<V>(
  received: ReceivedChanges,
  decide: (reads: DecisionReads) => V | Promise<V>,
): V | Promise<V> {
  const reads = new DecisionReads(received)
  const decided = begin(decide, reads)
  return decided instanceof Promise ? settled(received, decide, reads, decided) : decided
}

function begin<V>(decide: (reads: DecisionReads) => V | Promise<V>, reads: DecisionReads): V | Promise<V> {
  let decided: V | Promise<V>
  try {
    decided = decide(reads)
  } catch (cause) {
    reads.end()
    throw cause
  }
  if (decided instanceof Promise) reads.wait()
  else reads.end()
  return decided
}

async function settled<V>(
  received: ReceivedChanges,
  decide: (reads: DecisionReads) => V | Promise<V>,
  first: DecisionReads,
  pending: Promise<V>,
): Promise<V> {
  let reads = first
  let decided: V | Promise<V> = pending
  for (let repeats = 0; ; repeats++) {
    try {
      const value = await decided
      if (!reads.isTorn) return value
    } finally {
      reads.end()
    }
    if (repeats === MOST_REPEATS)
      throw new Error('what the decision reads changes faster than it can be read')
    received.repeated++
    reads = new DecisionReads(received)
    decided = begin(decide, reads)
    if (!(decided instanceof Promise)) return decided
  }
}
