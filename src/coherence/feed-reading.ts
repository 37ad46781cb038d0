/** Readings of the store's change feed, and the listeners to them. */

import type { Committed, FeedReading, NumberedChange, Position } from '../../seats-admin/model/change.ts'

/** The result of one read of the feed: all changes between two positions. */
export interface Reading extends FeedReading {
  /** Monotonic ms, taken before the store was asked: the state is at least this new. */
  readonly noted: number
  /** Wall-clock ms at `noted`, or earlier. */
  readonly notedWall: number
  /** Where the reading begins; null for the first one. */
  readonly from: Position | null
  /** False: the instance was not listed when it read, so the reading gives no lease. */
  readonly listed?: boolean
}

/** Receives changes: memory, and the history that validates the shared cache. */
export interface ChangeListener {
  /** Changes of an announcement, in any order and possibly repeated. Reads in flight must include them to count. */
  applyAnnouncement(changes: readonly NumberedChange[]): void
  /** Changes of a reading, up to `head`. Null: everything counts as changed. */
  applyReading(changes: readonly NumberedChange[] | null, head: Position): void
}

/** Numbers each change: a commit gets consecutive numbers, of which `seq` is the last. */
export function numbered({ seq, mark, changes }: Committed): NumberedChange[] {
  const before = seq - changes.length
  return changes.map((change, index) => ({ ...change, seq: before + index + 1, mark }))
}

export function samePosition(a: Position | null, b: Position | null): boolean {
  return a === b || (a !== null && b !== null && a.seq === b.seq && a.mark === b.mark)
}
