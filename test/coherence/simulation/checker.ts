/**
 * Records which writes have been acknowledged, and checks each read. The guarantee: a request is decided on a state at
 * least as new as every write that was acknowledged before the request began.
 */

import type { Database } from './database.ts'
import type { Context } from './context.ts'
import { type StoredRecord, RECORDS } from './records.ts'

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

  /** @param seen the number of the version that was read; where it has none, whether the record exists */
  check(process: string, floor: Floor, record: StoredRecord, seen: number | boolean): void {
    const least = floor.get(record) ?? 0
    const isFresh =
      typeof seen === 'number' ? seen >= least : least === 0 || this.#database.wasSince(record, least, seen)
    const what = `${process} decided on ${record.id} ${nameOf(seen)}`
    if (!isFresh) this.report('stale', `${what}: ${least} was answered`)
  }

  report(kind: Violation['kind'], what: string): void {
    this.#trace?.(`${kind}: ${what}`)
    this.violations.push({ kind, what })
  }
}

/** For the trace. */
export function nameOf(seen: number | boolean): string {
  if (typeof seen === 'number') return `${seen}`
  return seen ? 'present' : 'absent'
}
