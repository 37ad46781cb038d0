/** SQL, shared by both drivers, of listings of API keys and users by their Seats. A call examines a bounded range. */

import { grants, RANGE_BYTES, RANGE_END, SEAT_BYTES } from './granting.ts'
import { PAGE_TEXT } from './pages.ts'
import { apiKeyColumns, type Dialect, userColumns } from './rows.ts'

/** Keys or users of a range. */
const HOLDERS = 2000
/**
 * Their Seats, more than one key or user has. Each is looked up by its id: from a cold disk 10,000 take longer than a call
 * may.
 */
const SEATS = 3000

interface Holders {
  /** A table with its alias, and its column of ids, of which `:after` is one. */
  readonly table: string
  readonly id: string
  /** A condition on its rows. */
  readonly matching: string
  /** The table of their Seats, and the condition that its row `l` is of `h.id`. */
  readonly seats: string
  readonly ofHolder: string
  /** A condition on Seat `s`. */
  readonly granting: string
  /** The columns of a page; `granting` has the ids of the Seats to name. */
  readonly columns: string
}

export function apiKeysGranting(dialect: Dialect): string {
  return holders(dialect, {
    table: 'api_keys k',
    id: 'k.id',
    matching: 'k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > :now)',
    seats: 'api_key_seats',
    ofHolder: 'l.tenant = :tenant AND l.api_key_id = h.id',
    granting: grants(dialect),
    columns: apiKeyColumns(dialect, 'AND ks.seat_id IN (SELECT id FROM granting)'),
  })
}

/** @param granting a condition on Seat `s` */
export function usersWith(dialect: Dialect, granting: string): string {
  return holders(dialect, {
    table: 'users u',
    id: 'u.sub',
    matching: matchesText(dialect),
    seats: 'members',
    ofHolder: `l.tenant = :tenant AND ${dialect.isMember('h.id')}`,
    granting,
    columns: userColumns(dialect, 'AND l.seat_id IN (SELECT id FROM granting)'),
  })
}

/** All users, also those without Seats. */
export function allUsers(dialect: Dialect): string {
  const listed = 'u.tenant = :tenant AND u.sub > :after'
  return page(
    `bound AS (SELECT u.sub AS id FROM users u WHERE ${listed} ORDER BY u.sub LIMIT 1 OFFSET ${HOLDERS - 1}),
    held AS MATERIALIZED (SELECT u.sub AS id FROM users u
      WHERE ${listed} AND u.sub <= ${RANGE_END} AND ${matchesText(dialect)} ORDER BY u.sub LIMIT :rows),`,
    `FROM held h JOIN users u ON u.tenant = :tenant AND u.sub = h.id`,
    userColumns(dialect),
    '(SELECT id FROM bound)',
  )
}

/** Of an empty `:q` every text has a position. */
function matchesText({ position }: Dialect): string {
  return `(${position('u.sub', ':q')} > 0 OR ${position('lower(u.email)', ':q_lower')} > 0)`
}

/**
 * `examined` has whole keys or users. Each Seat is searched once, however many have it. Lookups by id are scalar
 * subqueries, which PostgreSQL never turns into scans of the whole table.
 */
function holders(dialect: Dialect, of: Holders): string {
  const { table, id } = of
  const alias = id.split('.')[0]
  const listed = `${alias}.tenant = :tenant AND ${id} > :after`
  const seat = (value: string) =>
    `(SELECT ${value} FROM seats s WHERE s.tenant = :tenant AND s.id = l.seat_id)`
  return page(
    `bound AS (SELECT ${id} AS id FROM ${table} WHERE ${listed} ORDER BY ${id} LIMIT 1 OFFSET ${HOLDERS - 1}),
    links AS MATERIALIZED (SELECT h.id, l.seat_id, ${seat(SEAT_BYTES)} AS size FROM
      (SELECT ${id} AS id FROM ${table} WHERE ${listed} AND ${id} <= ${RANGE_END} AND ${of.matching}
        ORDER BY ${id} LIMIT ${HOLDERS}) h ${dialect.lookup(of.seats, of.ofHolder)} ORDER BY h.id LIMIT ${SEATS}),
    candidates AS (SELECT * FROM links WHERE (SELECT count(*) FROM links) < ${SEATS}
      OR id < (SELECT max(id) FROM links) OR id = (SELECT min(id) FROM links)),
    examined AS MATERIALIZED (SELECT c.id, c.seat_id FROM
      (SELECT id, seat_id, sum(size) OVER (ORDER BY id) - sum(size) OVER (PARTITION BY id) AS before FROM candidates) c
      WHERE c.before < ${RANGE_BYTES}),
    granting AS MATERIALIZED (SELECT l.seat_id AS id FROM (SELECT DISTINCT seat_id FROM examined) l
      WHERE ${seat(`CASE WHEN ${of.granting} THEN 1 ELSE 0 END`)} = 1),
    held AS MATERIALIZED (SELECT held.id FROM
      (SELECT DISTINCT e.id FROM examined e WHERE e.seat_id IN (SELECT id FROM granting)) held
      ORDER BY held.id LIMIT :rows),`,
    `FROM held h JOIN ${table} ON ${alias}.tenant = :tenant AND ${id} = h.id`,
    of.columns,
    `CASE WHEN (SELECT count(*) FROM examined) < (SELECT count(*) FROM links)
      THEN (SELECT max(id) FROM examined) ELSE (SELECT id FROM bound) END`,
  )
}

/** A page of `held`, cut where its texts become too long. */
function page(range: string, held: string, columns: string, scanned: string): string {
  return `WITH ${range}
    named AS MATERIALIZED (SELECT ${columns} ${held}),
    shown AS (SELECT id FROM
      (SELECT id, sum(octet_length(seats)) OVER (ORDER BY id) - octet_length(seats) AS before FROM named) n
      WHERE n.before < ${PAGE_TEXT} ORDER BY id LIMIT :limit)
    SELECT ${scanned} AS scanned, (SELECT count(*) FROM held) AS held, n.*
    FROM (SELECT 1 AS one) o LEFT JOIN shown h ON 1 = 1 LEFT JOIN named n ON n.id = h.id ORDER BY h.id`
}
