/**
 * How far memory has received the change feed, and which records decisions in progress have read.
 *
 * Every value in memory is the store's as of one position of the feed: the newest change up to which all have been received, by
 * readings or by announcements. A value that the store shows as of a later position is used once the feed has been received up
 * to there. So a decision that waits for nothing is made on the state at that position. A decision that waits watches what it
 * has read (`decision-reads.ts`), and is made again if one of these records has changed.
 */

import type { ChangeKind } from '../../../seats-admin/model/change.ts'
import { ConsecutiveNumbers } from '../../lib/consecutive-numbers.ts'

/** A record that a decision in progress has read, or is about to read. */
export interface WatchedRecord {
  readonly place: string
  /** The position as of which it was read; Infinity while it is being read. */
  asOf: number
  /** Its newest change that has been received since it is watched. */
  changed: number
}

/** Neither a kind nor a tenant's id contains a NUL. */
function placeOf(kind: ChangeKind, tenant: string, key: string): string {
  return `${kind}\0${tenant}\0${key}`
}

/** Reads the feed up to a change. Rejects when the store can't be asked. */
export type ReadUpTo = (seq: number) => Promise<void>

export class ReceivedChanges {
  readonly #numbers = new ConsecutiveNumbers()
  readonly #readUpTo: ReadUpTo | null
  readonly #watched = new Map<string, Set<WatchedRecord>>()
  #generation = 0
  /** Decisions that were made again because a record that they had read changed. */
  repeated = 0

  /** @param readUpTo null: no feed is followed, and what the store shows counts as received */
  constructor(readUpTo: ReadUpTo | null = null) {
    this.#readUpTo = readUpTo
  }

  /** The newest change up to which all have been received. */
  get position(): number {
    return this.#numbers.end
  }

  /** Increases with each announcement and with each reading of the feed, even an empty one. */
  get generation(): number {
    return this.#generation
  }

  /** Changes arrive, or the position: what was derived from memory before may not hold any more. */
  begin(): void {
    this.#generation++
  }

  /** @param key the id of the record; of a block, the user */
  changed(kind: ChangeKind, tenant: string, key: string, seq: number): void {
    this.#numbers.add(seq)
    for (const record of this.#watched.get(placeOf(kind, tenant, key)) ?? [])
      record.changed = Math.max(record.changed, seq)
  }

  /** Any record may have changed. @param seq by this change; left out: by any number of changes */
  allChanged(seq = Infinity): void {
    if (seq !== Infinity) this.#numbers.add(seq)
    for (const records of this.#watched.values())
      for (const record of records) record.changed = Math.max(record.changed, seq)
  }

  /** A reading has ended here. @param isContiguous false: the feed is another one, or has a gap before */
  readTo(seq: number, isContiguous: boolean): void {
    if (isContiguous) this.#numbers.completeUpTo(seq)
    else this.#numbers.restart(seq)
  }

  /** Resolves once all changes up to this one have been received. Rejects when the store can't be asked. */
  async receive(seq: number): Promise<void> {
    if (this.position >= seq) return
    if (this.#readUpTo === null) this.#numbers.completeUpTo(seq)
    else await this.#readUpTo(seq)
  }

  watch(kind: ChangeKind, tenant: string, key: string, asOf: number): WatchedRecord {
    const record: WatchedRecord = { place: placeOf(kind, tenant, key), asOf, changed: 0 }
    const same = this.#watched.get(record.place)
    if (same === undefined) this.#watched.set(record.place, new Set([record]))
    else same.add(record)
    return record
  }

  unwatch(record: WatchedRecord): void {
    const same = this.#watched.get(record.place)
    same?.delete(record)
    if (same?.size === 0) this.#watched.delete(record.place)
  }

  /** Records that are watched. */
  get watched(): number {
    let count = 0
    for (const records of this.#watched.values()) count += records.size
    return count
  }
}
