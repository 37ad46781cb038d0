/**
 * The store as PostgreSQL keeps it: commits one after another, each with its numbered changes, and the list of
 * instances. What a statement sees and what it does are two moments; `store-client.ts` says when each of them is.
 */

import type { Committed, NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import type { ListedInstance } from '../../../src/coherence/feeds.ts'
import type { Random } from './random.ts'
import { TENANT, type Thing, type Version, versionOf } from './things.ts'

/** The real store's: a reader that is further behind is told to forget everything. */
const MAX_CHANGES = 1000

export interface FeedState {
  readonly head: Position
  readonly changes: readonly NumberedChange[] | null
}

/** On the list; who is taken off and registers again gets a new one. */
export interface InstanceRow {
  readonly id: string
  beat: number
  applied: number
  onList: boolean
}

export class Database {
  readonly rows = new Map<string, InstanceRow>()
  /** How many have been taken off the list. */
  removed = 0
  readonly #random: Random
  /** Changes kept; readers who are further behind get none. */
  readonly #kept: number
  readonly #changes: NumberedChange[] = []
  readonly #versions = new Map<Thing, Version[]>()
  #head: Position = { seq: 0, mark: 0 }

  constructor(random: Random, kept: number) {
    this.#random = random
    this.#kept = kept
  }

  get head(): Position {
    return this.#head
  }

  /** @param further changes of others, in the same commit */
  commit(thing: Thing, deletes: boolean, further = 0): Committed {
    const changes = [...othersOf(further), ...changesOf(thing)]
    const mark = 1 + this.#random.below(2 ** 31 - 1)
    for (const change of changes) this.#changes.push({ ...change, seq: this.#changes.length + 1, mark })
    const seq = this.#changes.length
    this.#head = { seq, mark }
    const versions = this.#versions.get(thing) ?? []
    versions.push(versionOf(thing, seq, deletes))
    this.#versions.set(thing, versions)
    return { seq, mark, changes }
  }

  /** As it is now. */
  current(thing: Thing): Version {
    return this.#versions.get(thing)?.at(-1) ?? { seq: 0, seat: null, key: null }
  }

  /** There was a version without it, at `seq` or later. */
  wasAbsentSince(thing: Thing, seq: number): boolean {
    const versions = this.#versions.get(thing) ?? []
    return versions.some((each) => each.seq >= seq && each.seat === null && each.key === null)
  }

  feedSince(position: Position | null): FeedState {
    const head = this.#head
    if (position === null) return { head, changes: this.#changes.slice(Math.max(0, head.seq - this.#kept)) }
    const isWhole = this.#isKept(position) && head.seq - position.seq <= Math.min(MAX_CHANGES, this.#kept)
    return { head, changes: isWhole ? this.#changes.slice(position.seq) : null }
  }

  list(): ListedInstance[] {
    return [...this.rows.values()].map(({ id, beat, applied }) => ({ id, beat, applied }))
  }

  register(id: string): void {
    if (!this.rows.has(id)) this.rows.set(id, { id, beat: 0, applied: 0, onList: true })
  }

  remove(row: InstanceRow | undefined): void {
    if (row === undefined) return
    row.onList = false
    this.removed++
    this.rows.delete(row.id)
  }

  #isKept({ seq, mark }: Position): boolean {
    if (seq === 0) return mark === 0
    return seq > this.#head.seq - this.#kept && this.#changes[seq - 1]?.mark === mark
  }
}

function changesOf({ kind, id, name }: Thing): Committed['changes'] {
  const own = { tenant: TENANT, kind, key: id }
  return kind === 'api-key' ? [own] : [own, { tenant: TENANT, kind: 'seat-name', key: name }]
}

function othersOf(count: number): Committed['changes'] {
  return Array.from({ length: count }, (_, index) => ({ tenant: 'other', kind: 'api-key', key: `k${index}` }))
}
