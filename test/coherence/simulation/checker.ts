/**
 * Records which writes have been acknowledged, and checks each read. The guarantee: a request is decided on a state at
 * least as new as every write that was acknowledged before the request began.
 */

import type { Database } from './database.ts'
import type { Context } from './context.ts'
import { type StoredRecord, RECORDS, type Version } from './records.ts'

export interface Violation {
  readonly kind: 'stale' | 'late' | 'no lease'
  readonly what: string
}

/** Record → number of its newest acknowledged write. */
export type Floor = ReadonlyMap<StoredRecord, number>

export class Checker {
  readonly violations: Violation[] = []
  readonly #database: Database
  readonly #trace: Context['trace']
  /** Copied on change: a request keeps the map from its start. */
  #answered: Floor = new Map()

  constructor(database: Database, trace: Context['trace']) {
    this.#database = database
    this.#trace = trace
  }

  /** The least versions that a request starting now must see. */
  get floor(): Floor {
    return this.#answered
  }

  answered(record: StoredRecord, seq: number): void {
    if (seq <= (this.#answered.get(record) ?? 0)) return
    this.#answered = new Map(this.#answered).set(record, seq)
  }

  /** From now on, every committed write counts as acknowledged. */
  acknowledgeAll(): void {
    for (const record of RECORDS) this.answered(record, this.#database.current(record).seq)
  }

  /** @param seq of the version that was read; null: absent */
  check(process: string, floor: Floor, record: StoredRecord, seq: number | null): void {
    const least = floor.get(record) ?? 0
    const isFresh = seq === null ? this.#was(record, least, isAbsent) : seq >= least
    if (!isFresh) this.#reportStale(process, record, `${seq ?? 'absent'}`, least)
  }

  /** A version of a block is known only by whether there is one. */
  checkBlock(process: string, floor: Floor, record: StoredRecord, isBlocked: boolean): void {
    const least = floor.get(record) ?? 0
    if (!this.#was(record, least, ({ blocked }) => blocked === isBlocked))
      this.#reportStale(process, record, isBlocked ? 'blocked' : 'not blocked', least)
  }

  #was(record: StoredRecord, least: number, isSo: (version: Version) => boolean): boolean {
    return least === 0 || this.#database.wasSince(record, least, isSo)
  }

  #reportStale(process: string, { id }: StoredRecord, what: string, least: number): void {
    this.report('stale', `${process} decided on ${id} ${what}: ${least} was answered`)
  }

  report(kind: Violation['kind'], what: string): void {
    this.#trace?.(`${kind}: ${what}`)
    this.violations.push({ kind, what })
  }
}

function isAbsent({ seat, key, session }: Version): boolean {
  return seat === null && key === null && session === null
}
