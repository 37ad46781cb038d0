/**
 * Listings that examine a range in each call: their statements, parameters and rows.
 *
 * Permissions have no index: it would cost each write, and the whole texts must be searched anyway. A call
 * searches a bounded range of records instead, so that it ends before its deadline however many there are.
 */

import { isPermission } from '../model/permission.ts'
import type { Scope } from '../model/scope.ts'
import type { SeatsFrom } from '../model/seats-from.ts'
import { isSpaceId } from '../model/space.ts'
import { listing, PAGE_TEXT, spacesOf } from './pages.ts'
import { EVERY, quoted } from './decision-reader.ts'
import { apiKeyColumns, type Dialect, integer, type Row, text } from './rows.ts'
import { grantedSeats, listedSeatColumns, seatsOfUser } from './seats-of-users.ts'
import { isStorable, storableOrEmpty } from './storable-text.ts'
import type { Grant, Listing, UserPage } from './store.ts'
import { userColumns } from './user-rows.ts'

/**
 * Seats of a range: about 20 ms in PostgreSQL and 30 ms in SQLite with 20 permissions each; 10 MB from a cold
 * disk.
 */
const SEATS = 20_000
/** Bytes of a Seat up to which it is searched before the others of its range are known. */
const SMALL = 8192
/** Bytes of Seats after which a range ends: 2,000 Seats of 1 MiB would take longer than a call may. */
const RANGE_BYTES = 32 * 1024 * 1024
const SEAT_BYTES = '(octet_length(s.spaces) + octet_length(s.permissions))'

/**
 * The end of a range: `bound`, or a text greater than any id and any `sub`, which has at most 255 UTF-16
 * units.
 */
const RANGE_END = `coalesce((SELECT b.id FROM bound b), '${'\u{10ffff}'.repeat(128)}')`

/**
 * The parameters of {@link grants}; null if there is no grant, or nothing can grant. Quoted texts occur in
 * the lists only as elements.
 */
function grantValues(grant: Grant | null): { permission: string; space: string } | null {
  if (grant === null) return null
  const { permission, space } = grant
  if (!isPermission(permission) || (space !== null && !isSpaceId(space))) return null
  // Any list with an element has a quotation mark.
  return space === null ? { ...quoted({ space: '', permission }), space: '"' } : quoted({ space, permission })
}

/**
 * `candidates` are the Seats of the range that grant, and the large ones, which are searched only as far as
 * `examined` reaches. Only ids and sizes are collected: a row may take a megabyte. Lookups by id are scalar
 * subqueries: a join could search every Seat for each one.
 */
function seatsGranting(dialect: Dialect, seatsFrom: SeatsFrom): string {
  const listed = 's.tenant = :tenant AND s.id > :after'
  const columns = listedSeatColumns(seatsFrom).replace('s.permissions', 'h.permissions')
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

/**
 * The first of the range. Seats with `*` have an index: to search all for it would take a fifth of the time.
 */
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

/**
 * The condition that Seat `s` grants `:permission` in `:space`. The list of spaces is mostly the shorter one.
 */
function grants(dialect: Dialect): string {
  return `(${inSpace(dialect)} AND (${holdsNamed(dialect)} OR ${holdsEvery(dialect)}))`
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

type RangeQuery = keyof ReturnType<typeof rangeQueries>

/** `…OfSpaces`: restricted to what is visible outside the admin space. */
export function rangeQueries(dialect: Dialect, seatsFrom: SeatsFrom) {
  const visible = `${dialect.spacesColumn} = :spaces`
  return {
    seatsGranting: seatsGranting(dialect, seatsFrom),
    apiKeysGranting: apiKeysGranting(dialect),
    apiKeysGrantingOf: apiKeysGranting(dialect, 'AND k.owner_digest = :owner_digest'),
    users: allUsers(dialect, seatsFrom),
    usersOfSpaces: usersWith(dialect, seatsFrom, visible),
    usersGranting: usersWith(dialect, seatsFrom, grants(dialect)),
  }
}

export function userRangeQuery({ grant, scope }: UserPage): RangeQuery {
  if (grant == null) return scope.admin ? 'users' : 'usersOfSpaces'
  return 'usersGranting'
}

/** The parameters of these statements; null if nothing can be listed. */
export function rangeValues(tenant: string, { limit, after, scope, grant = null, q = null }: UserPage) {
  const granted = grant === null ? {} : grantValues(seenBy(scope, grant))
  if (granted === null || !isStorable(q ?? '')) return null
  return {
    tenant,
    after: storableOrEmpty(after ?? ''),
    limit,
    rows: limit + 1,
    spaces: spacesOf(scope),
    now: grant?.now ?? 0,
    q: q ?? '',
    q_lower: lower(q ?? ''),
    ...granted,
  }
}

/** Outside the admin space, what is granted in the space of the scope; null if that is not asked. */
function seenBy({ admin, space }: Scope, grant: Grant): Grant | null {
  if (admin) return grant
  return grant.space === null || grant.space === space ? { ...grant, space } : null
}

/** As `lower` of both databases here: ASCII only. */
export function lower(query: string): string {
  return query.replace(/[A-Z]/g, (letter) => letter.toLowerCase())
}

/**
 * The page of rows with a range: at least one, with `id` null where no item is left. `held` counts the items
 * before the page was cut, `scanned` is the end of the range; null at the end of all. No rows if nothing can
 * be listed.
 */
export function rangeListing<V>(rows: readonly Row[], toValue: (row: Row) => V): Listing<V> {
  const [first] = rows
  if (first === undefined) return listing<V>([], null)
  const items = rows.filter(({ id }) => id !== null)
  const last = items.at(-1)
  if (last !== undefined && integer(first, 'held') > items.length)
    return listing(items.map(toValue), text(last, 'id'))
  return listing(items.map(toValue), first.scanned === null ? null : text(first, 'scanned'))
}

/** The number of keys or users of a range. */
const HOLDERS = 2000
/**
 * The same of users with groups. Each may be in 1,000 groups that are no Seats, which must be read to know
 * that.
 */
const SCIM_USERS = 250
/**
 * The number of their Seats, more than one key or user has. Each is looked up by its id: from a cold disk
 * 10,000 take longer than a call may.
 */
const HELD_SEATS = 3000

function usersOfRange(seatsFrom: SeatsFrom): number {
  return seatsFrom === null ? HOLDERS : SCIM_USERS
}

interface Holders {
  /** The table with its alias, and its column of ids, such as `:after`. */
  readonly table: string
  readonly id: string
  /** A condition on its rows. */
  readonly matching: string
  /** The joins of `h.id` with their Seats, as rows `l`. */
  readonly seats: readonly string[]
  /** The most in a range. */
  readonly most: number
  /** A condition on Seat `s`. */
  readonly granting: string
  /** The columns of a page; `granting` has the ids of the Seats to name. */
  readonly columns: string
  /** Those that may be large. */
  readonly large: readonly string[]
}

function apiKeysGranting(dialect: Dialect, condition = ''): string {
  return holders({
    table: 'api_keys k',
    id: 'k.id',
    matching: `k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > :now) ${condition}`,
    seats: [dialect.lookup('api_key_seats', 'l.tenant = :tenant AND l.api_key_id = h.id')],
    most: HOLDERS,
    granting: grants(dialect),
    columns: apiKeyColumns(dialect, 'AND ks.seat_id IN (SELECT id FROM granting)'),
    large: ['seats'],
  })
}

const LARGE_OF_USERS = ['seats', 'grants']

/** @param granting a condition on Seat `s` */
function usersWith(dialect: Dialect, seatsFrom: SeatsFrom, granting: string): string {
  return holders({
    table: 'users u',
    id: 'u.sub',
    matching: matchesText(dialect),
    seats: [seatsOfUser(dialect, seatsFrom, 'h.id').join, grantedSeats(dialect, 'h.id').join],
    most: usersOfRange(seatsFrom),
    granting,
    columns: userColumns(dialect, seatsFrom, 'AND l.seat_id IN (SELECT id FROM granting)'),
    large: LARGE_OF_USERS,
  })
}

/** All users, also those without Seats. */
function allUsers(dialect: Dialect, seatsFrom: SeatsFrom): string {
  const listed = 'u.tenant = :tenant AND u.sub > :after'
  return page({
    range: `bound AS (SELECT u.sub AS id FROM users u WHERE ${listed} ORDER BY u.sub LIMIT 1 OFFSET ${usersOfRange(seatsFrom) - 1}),
    held AS MATERIALIZED (SELECT u.sub AS id FROM users u
      WHERE ${listed} AND u.sub <= ${RANGE_END} AND ${matchesText(dialect)} ORDER BY u.sub LIMIT :rows),`,
    rows: `FROM held h JOIN users u ON u.tenant = :tenant AND u.sub = h.id`,
    columns: userColumns(dialect, seatsFrom),
    large: LARGE_OF_USERS,
    scanned: '(SELECT id FROM bound)',
  })
}

/** Of an empty `:q` every text has a position. */
function matchesText({ position }: Dialect): string {
  return `(${position('u.sub', ':q')} > 0 OR ${position('lower(u.email)', ':q_lower')} > 0)`
}

/**
 * `examined` has whole keys or users. Each Seat is searched once, however many have it. Lookups by id are
 * scalar subqueries, which PostgreSQL never turns into scans of the whole table.
 */
function holders(of: Holders): string {
  const { table, id } = of
  const alias = id.split('.')[0]
  const listed = `${alias}.tenant = :tenant AND ${id} > :after`
  const seat = (value: string) =>
    `(SELECT ${value} FROM seats s WHERE s.tenant = :tenant AND s.id = l.seat_id)`
  // The first of all are among the first of each.
  const first = (column: string) => `ORDER BY ${column} LIMIT ${HELD_SEATS}`
  const links = of.seats.map(
    (each) =>
      `SELECT * FROM (SELECT h.id, l.seat_id, ${seat(SEAT_BYTES)} AS size FROM holders h ${each} ${first('h.id')}) f`,
  )
  return page({
    range: `bound AS (SELECT ${id} AS id FROM ${table} WHERE ${listed} ORDER BY ${id} LIMIT 1 OFFSET ${of.most - 1}),
    holders AS MATERIALIZED (SELECT ${id} AS id FROM ${table}
      WHERE ${listed} AND ${id} <= ${RANGE_END} AND ${of.matching} ORDER BY ${id} LIMIT ${of.most}),
    links AS MATERIALIZED (${links.join(' UNION ')} ${first('id')}),
    candidates AS (SELECT * FROM links WHERE (SELECT count(*) FROM links) < ${HELD_SEATS}
      OR id < (SELECT max(id) FROM links) OR id = (SELECT min(id) FROM links)),
    examined AS MATERIALIZED (SELECT c.id, c.seat_id FROM
      (SELECT id, seat_id, sum(size) OVER (ORDER BY id) - sum(size) OVER (PARTITION BY id) AS before FROM candidates) c
      WHERE c.before < ${RANGE_BYTES}),
    granting AS MATERIALIZED (SELECT l.seat_id AS id FROM (SELECT DISTINCT seat_id FROM examined) l
      WHERE ${seat(`CASE WHEN ${of.granting} THEN 1 ELSE 0 END`)} = 1),
    held AS MATERIALIZED (SELECT held.id FROM
      (SELECT DISTINCT e.id FROM examined e WHERE e.seat_id IN (SELECT id FROM granting)) held
      ORDER BY held.id LIMIT :rows),`,
    rows: `FROM held h JOIN ${table} ON ${alias}.tenant = :tenant AND ${id} = h.id`,
    columns: of.columns,
    large: of.large,
    scanned: `CASE WHEN (SELECT count(*) FROM examined) < (SELECT count(*) FROM links)
      THEN (SELECT max(id) FROM examined) ELSE (SELECT id FROM bound) END`,
  })
}

interface HeldPage {
  /** The beginning of a statement, which has `held`. */
  readonly range: string
  readonly rows: string
  readonly columns: string
  /** The columns that may be large. */
  readonly large: readonly string[]
  /** The end of the range. */
  readonly scanned: string
}

/** A page of `held`, cut where its texts become too long. */
function page({ range, rows, columns, large, scanned }: HeldPage): string {
  const size = large.map((column) => `octet_length(${column})`).join(' + ')
  return `WITH ${range}
    named AS MATERIALIZED (SELECT ${columns} ${rows}),
    shown AS (SELECT id FROM
      (SELECT id, sum(${size}) OVER (ORDER BY id) - (${size}) AS before FROM named) n
      WHERE n.before < ${PAGE_TEXT} ORDER BY id LIMIT :limit)
    SELECT ${scanned} AS scanned, (SELECT count(*) FROM held) AS held, n.*
    FROM (SELECT 1 AS one) o LEFT JOIN shown h ON 1 = 1 LEFT JOIN named n ON n.id = h.id ORDER BY h.id`
}
