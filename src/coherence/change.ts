/** Readings of the store's change feed, and the listeners to them. */

import type { Committed, NumberedChange, Position } from '../../seats-admin/model/change.ts'

/** What a reading of the feed gave: everything between two positions. */
export interface Reading {
  /** Monotonic ms, noted before the store was asked: the store's state is at least this new. */
  readonly noted: number
  /** Where the reading began; null for a first one. */
  readonly from: Position | null
  readonly head: Position
  /** Null: unknown, so anything may have changed. */
  readonly changes: readonly NumberedChange[] | null
  /** False: the instance was not on the list when it read, which gives no lease. */
  readonly listed?: boolean
}

/** Who must hear of changes: memory, and what judges the shared cache. */
export interface ChangeListener {
  /** By message: in any order, and more than once. What is being read counts only if it is at least as new. */
  announced(changes: readonly NumberedChange[]): void
  /** By a reading: all changes since the last one, up to `head`. Null: anything may have changed. */
  take(changes: readonly NumberedChange[] | null, head: Position): void
}

/** Each change with its own number: they were handed out in a row. */
export function numbered({ seq, mark, changes }: Committed): NumberedChange[] {
  const before = seq - changes.length
  return changes.map((change, index) => ({ ...change, seq: before + index + 1, mark }))
}

export function samePosition(a: Position | null, b: Position | null): boolean {
  return a === b || (a !== null && b !== null && a.seq === b.seq && a.mark === b.mark)
}
