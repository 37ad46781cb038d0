/**
 * Knows which writes have been answered, and judges what is read. The promise: what a request is decided on is at least
 * as new as every write that was answered before the request began.
 */

import type { Database } from './database.ts'
import type { Nature } from './nature.ts'
import { type Thing, THINGS } from './things.ts'

export interface Complaint {
  readonly kind: 'stale' | 'late' | 'no lease'
  readonly what: string
}

/** Thing → number of its newest write that has been answered. */
export type Floor = ReadonlyMap<Thing, number>

export class Witness {
  readonly complaints: Complaint[] = []
  readonly #database: Database
  readonly #trace: Nature['trace']
  /** Replaced when it changes: a request keeps the one that it began with. */
  #answered: Floor = new Map()

  constructor(database: Database, trace: Nature['trace']) {
    this.#database = database
    this.#trace = trace
  }

  /** What a request that begins now must see, at least. */
  get floor(): Floor {
    return this.#answered
  }

  answered(thing: Thing, seq: number): void {
    if (seq <= (this.#answered.get(thing) ?? 0)) return
    this.#answered = new Map(this.#answered).set(thing, seq)
  }

  /** From now on, what was committed counts, answered or not. */
  everythingCounts(): void {
    for (const thing of THINGS) this.answered(thing, this.#database.current(thing).seq)
  }

  /** @param seq of the version that was read; null: it was not there */
  engine(who: string, floor: Floor, thing: Thing, seq: number | null): void {
    const least = floor.get(thing) ?? 0
    const isFresh = seq === null ? least === 0 || this.#database.wasAbsentSince(thing, least) : seq >= least
    if (!isFresh)
      this.complain('stale', `${who} decided on ${thing.id} ${seq ?? 'absent'}: ${least} was answered`)
  }

  complain(kind: Complaint['kind'], what: string): void {
    this.#trace?.(`${kind}: ${what}`)
    this.complaints.push({ kind, what })
  }
}
