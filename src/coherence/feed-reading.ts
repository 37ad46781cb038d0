/** Readings of the store's change feed, and the listeners to them. */

import type { Committed, FeedReading, NumberedChange, Position } from '../../seats-admin/model/change.ts'

/** The result of one read of the feed: all changes between two positions. */
export interface Reading extends FeedReading {
  /** Monotonic ms at the beginning of the read: the state is at least this new. */
  readonly noted: number
  /** Wall-clock ms at `noted`, or an earlier time. */
  readonly notedWall: number
  /** The position at which the reading begins; null for the first one. */
  readonly from: Position | null
  /** False if the instance was not listed when it read: the reading gives no lease. Left out: true. */
  readonly listed?: boolean
}

/** Receives changes: memory, and the history that validates the shared cache. */
export interface ChangeListener {
  /**
   * Changes of an announcement, in any order and possibly repeated. Reads in flight must include them to
   * count.
   */
  applyAnnouncement(changes: readonly NumberedChange[]): void
  /** Changes of a reading, up to `head`. Null if everything counts as changed. */
  applyReading(changes: readonly NumberedChange[] | null, head: Position): void
}

/** Numbers each change: a commit gets consecutive numbers up to `seq`. */
export function numbered({ seq, mark, changes }: Committed): NumberedChange[] {
  const before = seq - changes.length
  return changes.map((change, index) => ({ ...change, seq: before + index + 1, mark }))
}

export function samePosition(a: Position | null, b: Position | null): boolean {
  return a === b || (a !== null && b !== null && a.seq === b.seq && a.mark === b.mark)
}
