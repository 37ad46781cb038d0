/** The change feed: marks, limits and queries. */

import { randomInt } from 'node:crypto'
import type { ChangeKind, FeedReading, NumberedChange, Position } from '../model/change.ts'
import { counterRow, integer, type Row, text } from './rows.ts'

/** Changes retained. A reader that is further behind clears its memory. */
export const MAX_RETAINED = 10_000
/**
 * Changes of one reading. A reader that is further behind clears its memory, and makes decisions in progress
 * again: a flood of another tenant's writes should not get there within a quarter of a second.
 */
const MAX_CHANGES = 5000

/** A random mark for one commit. Never 0, the mark of an empty history and of commits of older versions. */
export function drawMark(): number {
  return randomInt(1, 2 ** 31)
}

/**
 * One statement for the head, the mark at the given position, and the changes after it.
 *
 * @param first additional columns, with a trailing comma
 */
export function feedQuery(first = ''): string {
  return `SELECT ${first} c.seq AS head, c.mark AS head_mark,
    (SELECT p.mark FROM changes p WHERE p.seq = :seq) AS mark_there, ch.seq, ch.mark, ch.tenant, ch.kind, ch.key
    FROM counter c LEFT JOIN changes ch ON ch.seq > :seq AND c.seq - :seq <= :most ORDER BY ch.seq`
}

/** The start position, and how far the head may be ahead of it. */
export function feedParameters(position: Position | null): { readonly seq: number; readonly most: number } {
  return position === null
    ? { seq: 0, most: Number.MAX_SAFE_INTEGER }
    : { seq: position.seq, most: MAX_CHANGES }
}

/** Changes are numbered without gaps, so the count shows whether any is missing. */
export function feedReading(rows: readonly Row[], position: Position | null): FeedReading {
  const first = counterRow(rows[0])
  const head = { seq: integer(first, 'head'), mark: integer(first, 'head_mark') }
  const changes = rows.filter((row) => row.seq !== null).map(numberedChange)
  if (position === null) return { head, changes }
  const whole = isOfThisHistory(position, first) && changes.length === head.seq - position.seq
  return { head, changes: whole ? changes : null }
}

/** Every history begins at 0. The mark identifies any other position, as long as its change is retained. */
function isOfThisHistory({ seq, mark }: Position, row: Row): boolean {
  return seq === 0 ? mark === 0 : row.mark_there === mark
}

function numberedChange(row: Row): NumberedChange {
  return {
    seq: integer(row, 'seq'),
    mark: integer(row, 'mark'),
    tenant: text(row, 'tenant'),
    kind: text(row, 'kind') as ChangeKind,
    key: text(row, 'key'),
  }
}
