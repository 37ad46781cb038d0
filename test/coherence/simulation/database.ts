/**
 * A model of the PostgreSQL store: serialized commits with numbered changes, and the list of instances. The snapshot of a
 * statement and its effect are separate events; `store-client.ts` schedules them.
 */

import type { Committed, NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import type { ListedInstance } from '../../../src/coherence/feeds.ts'
import type { Random } from '../../support/random.ts'
import type { Schedule } from './schedule.ts'
import { TENANT, type StoredRecord, type Version } from './records.ts'

/** As in the real store: a reader that is further behind gets no changes, and drops everything. */
const MAX_CHANGES = 5000

export interface FeedState {
  readonly head: Position
  readonly changes: readonly NumberedChange[] | null
}

/** A row of the list. An instance that is removed and registers again gets a new row. */
export interface InstanceRow {
  readonly id: string
  beat: number
  applied: number
  onList: boolean
}

export class Database {
  readonly rows = new Map<string, InstanceRow>()
  /** Number of rows removed from the list. */
  removed = 0
  /** Whether the blocks of the tenant are too many to be read as a whole. */
  readonly hasManyBlocks: boolean
  readonly #random: Random
  /** Number of changes kept; a reader that is further behind gets none. */
  readonly #kept: number
  readonly #changes: NumberedChange[] = []
  readonly #versions = new Map<StoredRecord, Version[]>()
  #head: Position = { seq: 0, mark: 0 }

  constructor(random: Random, { kept, hasManyBlocks }: Pick<Schedule, 'kept' | 'hasManyBlocks'>) {
    this.#random = random
    this.hasManyBlocks = hasManyBlocks
    this.#kept = kept
  }

  get head(): Position {
    return this.#head
  }

  /** @param further number of changes by others in the same commit */
  commit(record: StoredRecord, deletes: boolean, further = 0): Committed {
    const changes = [...othersOf(further), ...changesOf(record)]
    const mark = 1 + this.#random.below(2 ** 31 - 1)
    for (const change of changes) this.#changes.push({ ...change, seq: this.#changes.length + 1, mark })
    const seq = this.#changes.length
    this.#head = { seq, mark }
    const versions = this.#versions.get(record) ?? []
    // Each write of a block makes or ends it: two alike could not be told apart.
    const isEnd = record.kind === 'block' ? this.current(record).exists : deletes
    versions.push({ seq, exists: !isEnd })
    this.#versions.set(record, versions)
    return { seq, mark, changes }
  }

  current(record: StoredRecord): Version {
    return this.#versions.get(record)?.at(-1) ?? { seq: 0, exists: false }
  }

  /** Whether the record existed, or did not, at `seq` or later. */
  wasSince(record: StoredRecord, seq: number, exists: boolean): boolean {
    return this.#versions.get(record)?.some((each) => each.seq >= seq && each.exists === exists) ?? false
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

function changesOf({ kind, id, name }: StoredRecord): Committed['changes'] {
  const own = { tenant: TENANT, kind, key: kind === 'block' ? JSON.stringify(id) : id }
  return kind === 'seat' ? [own, { tenant: TENANT, kind: 'seat-name', key: name }] : [own]
}

function othersOf(count: number): Committed['changes'] {
  return Array.from({ length: count }, (_, index) => ({ tenant: 'other', kind: 'api-key', key: `k${index}` }))
}
