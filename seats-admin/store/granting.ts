/**
 * SQL, shared by both drivers, of listings by what is granted.
 *
 * Permissions have no index: it would cost each write, and the whole texts must be searched anyway. A call searches a
 * bounded range of records instead, so that it ends before its deadline however many there are.
 */

import { isPermission } from '../model/permission.ts'
import { isSpaceId } from '../model/space.ts'
import { PAGE_TEXT } from './pages.ts'
import { EVERY, quoted } from './point-reads.ts'
import { type Dialect, SEAT_COLUMNS } from './rows.ts'
import type { Grant } from './store.ts'

/** Seats of a range: about 20 ms in PostgreSQL and 30 ms in SQLite with 20 permissions each; 10 MB from a cold disk. */
const SEATS = 20_000
/** Bytes of a Seat up to which it is searched before the others of its range are known. */
const SMALL = 8192
/** Bytes of Seats after which a range ends: 2,000 Seats of 1 MiB would take longer than a call may. */
export const RANGE_BYTES = 32 * 1024 * 1024
export const SEAT_BYTES = '(octet_length(s.spaces) + octet_length(s.permissions))'

/** The end of a range: `bound`, or a text greater than any id and any `sub`, which has at most 255 UTF-16 units. */
export const RANGE_END = `coalesce((SELECT b.id FROM bound b), '${'\u{10ffff}'.repeat(128)}')`

/** The parameters of {@link grants}; null if there is no grant, or nothing can grant. Quoted texts occur in the lists only as elements. */
export function grantValues(grant: Grant | null): { permission: string; space: string } | null {
  if (grant === null) return null
  const { permission, space } = grant
  if (!isPermission(permission) || (space !== null && !isSpaceId(space))) return null
  // Any list with an element has a quotation mark.
  return space === null ? { ...quoted({ space: '', permission }), space: '"' } : quoted({ space, permission })
}

/**
 * `candidates` are the Seats of the range that grant, and the large ones, which are searched only as far as `examined`
 * reaches. Only ids and sizes are collected: a row may take a megabyte. Lookups by id are scalar subqueries: a join could
 * search every Seat for each one.
 */
export function seatsGranting(dialect: Dialect): string {
  const listed = 's.tenant = :tenant AND s.id > :after'
  const columns = SEAT_COLUMNS.replace('s.permissions', 'h.permissions')
  return `WITH bound AS (SELECT s.id FROM seats s WHERE ${listed} ORDER BY s.id LIMIT 1 OFFSET ${SEATS - 1}),
    candidates AS MATERIALIZED (${candidates(dialect, `${listed} AND s.id <= ${RANGE_END}`)}),
    examined AS MATERIALIZED (SELECT c.id FROM
      (SELECT id, sum(size) OVER (ORDER BY id) - size AS before FROM candidates) c WHERE c.before < ${RANGE_BYTES}),
    judged AS MATERIALIZED (SELECT e.id, (SELECT CASE WHEN NOT ${inSpace(dialect)} THEN NULL
        WHEN ${holdsEvery(dialect)} THEN '[${EVERY}]' WHEN ${holdsNamed(dialect)} THEN '[' || :permission || ']' END
        FROM seats s WHERE s.tenant = :tenant AND s.id = e.id) AS permissions FROM examined e),
    held AS MATERIALIZED (SELECT j.id, j.permissions,
        (SELECT octet_length(s.spaces) FROM seats s WHERE s.tenant = :tenant AND s.id = j.id) AS size
      FROM judged j WHERE j.permissions IS NOT NULL),
    shown AS (SELECT id, permissions FROM
      (SELECT id, permissions, sum(size) OVER (ORDER BY id) - size AS before FROM held) h
      WHERE h.before < ${PAGE_TEXT} ORDER BY id LIMIT :limit)
    SELECT CASE WHEN (SELECT count(*) FROM candidates) = :rows
        OR (SELECT count(*) FROM examined) < (SELECT count(*) FROM candidates)
        THEN (SELECT max(id) FROM examined) ELSE (SELECT id FROM bound) END AS scanned,
      (SELECT count(*) FROM held) AS held, ${columns}
    FROM (SELECT 1 AS one) o LEFT JOIN shown h ON 1 = 1
      LEFT JOIN seats s ON s.tenant = :tenant AND s.id = h.id ORDER BY h.id`
}

/** The first of the range. Seats with `*` have an index: to search all for it would take a fifth of the time. */
function candidates(dialect: Dialect, range: string): string {
  const first = (seats: string, condition: string) =>
    `SELECT s.id, ${SEAT_BYTES} AS size FROM ${seats} WHERE ${range} AND ${condition} ORDER BY s.id LIMIT :rows`
  const within = `octet_length(s.spaces) > ${SMALL} OR ${inSpace(dialect)}`
  const named = first(
    'seats s',
    `CASE WHEN octet_length(s.permissions) > ${SMALL} THEN 1 = 1 WHEN ${holdsNamed(dialect)} THEN ${within} ELSE 1 = 0 END`,
  )
  const every = first(dialect.wildcards, `${wildcard(dialect)} AND (${within})`)
  return `SELECT * FROM (${named}) n UNION SELECT * FROM (${every}) e ORDER BY id LIMIT :rows`
}

/** The condition that Seat `s` grants `:permission` in `:space`. The list of spaces is mostly the shorter one. */
export function grants(dialect: Dialect): string {
  return `(${inSpace(dialect)} AND ${holds(dialect)})`
}

function holds(dialect: Dialect): string {
  return `(${holdsNamed(dialect)} OR ${holdsEvery(dialect)})`
}

function holdsNamed({ position }: Dialect): string {
  return `${position('s.permissions', ':permission')} > 0`
}

function holdsEvery(dialect: Dialect): string {
  return `(${dialect.hasAsterisk('s.permissions')} AND ${wildcard(dialect)})`
}

/** The condition of the index of Seats with `*`, textually. */
function wildcard({ position }: Dialect): string {
  return `${position('s.permissions', `'${EVERY}'`)} > 0`
}

function inSpace({ position }: Dialect): string {
  return `${position('s.spaces', ':space')} > 0`
}
