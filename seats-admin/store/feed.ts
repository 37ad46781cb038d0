/** The change feed, as both drivers keep and read it: its marks, its limits, and what a reading says. */

import { randomInt } from 'node:crypto'
import type { ChangeKind, NumberedChange, Position } from '../model/change.ts'
import { counted } from './point-reads.ts'
import { integer, type Row, text } from './rows.ts'
import type { FeedReading } from './store.ts'

/** A reader that is further behind forgets everything instead. */
export const KEPT = 10_000
/** One that is further behind than this is told to: cheaper than to read on. */
const MAX_CHANGES = 1000

/** For one commit. Never 0, which is the mark of nothing written yet, and of what older versions wrote. */
export function drawMark(): number {
  return randomInt(1, 2 ** 31)
}

/**
 * The head, the mark at the position asked for, and the changes after it, in one statement.
 * @param first further columns, with a comma
 */
export function feedQuestion(first = ''): string {
  return `SELECT ${first} c.seq AS head, c.mark AS head_mark,
    (SELECT p.mark FROM changes p WHERE p.seq = :seq) AS mark_there, ch.seq, ch.mark, ch.tenant, ch.kind, ch.key
    FROM counter c LEFT JOIN changes ch ON ch.seq > :seq AND c.seq - :seq <= :most ORDER BY ch.seq`
}

/** After which number, and how far the head may be ahead of it. */
export function feedParameters(position: Position | null): { readonly seq: number; readonly most: number } {
  return position === null
    ? { seq: 0, most: Number.MAX_SAFE_INTEGER }
    : { seq: position.seq, most: MAX_CHANGES }
}

/** Each change has a number of its own and there are no gaps: missing ones are known by counting. */
export function feedReading(rows: readonly Row[], position: Position | null): FeedReading {
  const first = counted(rows[0])
  const head = { seq: integer(first, 'head'), mark: integer(first, 'head_mark') }
  const changes = rows.filter((row) => row.seq !== null).map(numberedChange)
  if (position === null) return { head, changes }
  const whole = isOfThisHistory(position, first) && changes.length === head.seq - position.seq
  return { head, changes: whole ? changes : null }
}

/** Every history begins at 0; any other position is known by its mark, as long as the change there is kept. */
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
