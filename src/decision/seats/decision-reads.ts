/**
 * The records that one decision reads, and the decision on one state: all of them as of one position of the change feed.
 *
 * Until a decision first waits, it reads memory at one position, and the records are only noted. From then on they are watched.
 * The decision holds at the position at its end, unless one of them has changed after the position as of which it was read.
 */

import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import type { AwaitedRecord, Source, Trace } from '../../model/decision.ts'
import type { ReceivedChanges, WatchedRecord } from './received-changes.ts'
import type { AsOf } from './read-through.ts'

export class DecisionReads implements Trace {
  source: Source = 'memory'
  readonly #received: ReceivedChanges
  /** Kind, tenant and key of each record, one after the other. */
  readonly #noted: string[] = []
  /** Null until the decision waits. */
  #watched: WatchedRecord[] | null = null

  constructor(received: ReceivedChanges) {
    this.#received = received
  }

  found(kind: ChangeKind, tenant: string, key: string): void {
    if (this.#watched === null) this.#noted.push(kind, tenant, key)
    else this.#watched.push(this.#received.watch(kind, tenant, key, this.#received.position))
  }

  awaited(kind: ChangeKind, tenant: string, key: string): AwaitedRecord {
    const record = this.#received.watch(kind, tenant, key, Infinity)
    this.wait().push(record)
    return record
  }

  async read<V>(kind: ChangeKind, tenant: string, key: string, load: () => Promise<AsOf<V>>): Promise<V> {
    const record = this.awaited(kind, tenant, key)
    const { seq, value } = await load()
    await this.#received.receive(seq)
    record.asOf = seq
    return value
  }

  /** The decision waits: whatever it has read so far may change from now on. In the same task as the reads. */
  wait(): WatchedRecord[] {
    if (this.#watched !== null) return this.#watched
    const { position } = this.#received
    this.#watched = []
    for (let at = 0; at < this.#noted.length; at += 3) {
      const [kind, tenant = '', key = ''] = this.#noted.slice(at, at + 3)
      this.#watched.push(this.#received.watch(kind as ChangeKind, tenant, key, position))
    }
    return this.#watched
  }

  discard(): void {
    this.end()
    this.#watched = []
  }

  /** Whether no state was one that the decision read: a record has changed since, and others were read later. */
  get isTorn(): boolean {
    return this.#watched?.some(({ asOf, changed }) => changed > asOf) ?? false
  }

  /** The decision is made. */
  end(): void {
    for (const record of this.#watched ?? []) this.#received.unwatch(record)
    this.#watched = null
  }
}

/** Times that a decision is made again. */
const MOST_REPEATS = 3

/**
 * Decides on one state. Synchronous where the decision is. Rejects as it does, and where a record that it reads keeps changing.
 *
 * @param decide reads records with this trace alone, and has no effects
 */
export function decideOnOneState<V>(
  received: ReceivedChanges,
  decide: (reads: DecisionReads) => V | Promise<V>,
): V | Promise<V> {
  const reads = new DecisionReads(received)
  const decided = decide(reads)
  if (!(decided instanceof Promise)) return decided
  reads.wait()
  return settled(received, decide, reads, decided)
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
    decided = decide(reads)
    if (!(decided instanceof Promise)) return decided
    reads.wait()
  }
}
