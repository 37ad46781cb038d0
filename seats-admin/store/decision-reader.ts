/**
 * Point reads of the data plane, and readings of the change feed. Each point read is one statement that also
 * reads the counter, so that value and position are of one snapshot.
 */

import type { ChangeReader } from '../model/change.ts'
import { EVERY_PERMISSION, isPermission } from '../model/permission.ts'
import type { AsOf, GrantReading, Named, SeatQuestion, SpacesReading } from '../model/readings.ts'
import { isSpaceId } from '../model/space.ts'
import { subDigest } from './block-queries.ts'
import type { Database } from './database.ts'
import { feedParameters, feedQuery, feedReading } from './feed.ts'
import {
  counterRow,
  type Dialect,
  integer,
  integerOrNull,
  type Row,
  SEAT_COLUMNS,
  storedApiKey,
  storedSeat,
  text,
} from './rows.ts'
import {
  restrictionReads,
  restrictionsReading,
  userRestrictionReading,
  userValues,
} from './restriction-queries.ts'
import { grantReads, grantsReading, userGrantsReading } from './seat-grant-queries.ts'
import { RECORD_COLUMNS, sessionRecord } from './session-queries.ts'
import type { SessionStore } from './session-store.ts'
import type { Values } from './statements.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { SeatReader } from './store.ts'

export function decisionReader({
  reads,
  dialect,
}: Database): SeatReader & ChangeReader & Pick<SessionStore, 'readSession'> {
  const queries = {
    ...pointReads(dialect),
    ...restrictionReads(dialect),
    ...grantReads(dialect),
    changes: feedQuery(),
  }
  return {
    grantByName: (tenant, name, question) =>
      grant(queries.grantByName, byName(tenant, name), question, named(grantReading)),
    grantById: (tenant, id, question) =>
      grant(queries.grantById, byId(tenant, id), question, orNull(grantReading)),
    spacesByName: (tenant, name) => read(queries.spacesByName, byName(tenant, name), orNull(spacesReading)),
    seatByName: (tenant, name) => read(queries.seatByName, byName(tenant, name), named(storedSeat)),
    seatById: (tenant, id) => read(queries.seatById, byId(tenant, id), orNull(storedSeat)),
    apiKeyById: (tenant, id) => read(queries.apiKeyById, byId(tenant, id), orNull(storedApiKey)),
    restrictions: (tenant) => read(queries.restrictions, { tenant }, restrictionsReading),
    userRestriction: (tenant, user) =>
      read(queries.userRestriction, userValues(tenant, user), userRestrictionReading(user)),
    grants: (tenant) => read(queries.grants, { tenant }, grantsReading),
    userGrants: (tenant, user) =>
      read(queries.userGrants, { tenant, sub_digest: subDigest(user) }, userGrantsReading),
    readSession: (tenant, id) => read(queries.sessionById, byId(tenant, id), orNull(sessionRecord)),
    changesSince: async (position) =>
      feedReading(await reads.all(queries.changes, feedParameters(position)), position),
  }

  async function read<V>(statement: string, values: Values, toValue: (row: Row) => V) {
    return asOf(await reads.get(statement, values), toValue)
  }

  /**
   * Reads only what the question needs of a large Seat: the database restricts it, or the row is restricted
   * here.
   */
  async function grant<V>(
    statement: string,
    values: Values,
    question: SeatQuestion,
    toValue: (row: Row) => V,
  ) {
    if (dialect.narrowsInSql) return read(statement, { ...values, ...quoted(question) }, toValue)
    return asOf(narrowed(await reads.get(statement, values), question), toValue)
  }
}

function byName(tenant: string, name: string) {
  return { tenant, name: storableOrEmpty(name) }
}

function byId(tenant: string, id: string) {
  return { tenant, id: storableOrEmpty(id) }
}

/**
 * Bytes of `spaces` and `permissions` up to which a decision reads the complete Seat, about 150 permissions.
 * For a larger Seat, the store returns only the requested space and permission, so that the cost of a
 * decision is bounded.
 *
 * The limit of a Seat's size (`limits.seat_bytes`) is no such bound, because a key or a token may name 1,000
 * Seats. In SQLite, reading a Seat of 60 KiB whole takes 2.3 ms of CPU time and 200 KB of memory; this takes
 * 0.2 ms and next to none. Whole, the Seats of one key would take 2.3 s and three times the memory of all
 * tenants (`memory.seats`), at each request.
 */
const COMPLETE_BYTES = 4096

function pointReads(dialect: Dialect) {
  const { list } = dialect
  const grant = grantColumns(dialect)
  const ofName = 'FROM counter c LEFT JOIN seats s ON s.tenant = :tenant AND s.name = :name'
  const ofId = 'FROM counter c LEFT JOIN seats s ON s.tenant = :tenant AND s.id = :id'
  const givenUp = 'LEFT JOIN names_given_up g ON g.tenant = :tenant AND g.name = :name'
  return {
    grantByName: `SELECT c.seq, c.mark, ${grant}, g.at AS given_up_at ${ofName} ${givenUp}`,
    grantById: `SELECT c.seq, c.mark, ${grant} ${ofId}`,
    spacesByName: `SELECT c.seq, c.mark, s.id, s.name, s.spaces ${ofName}`,
    seatByName: `SELECT c.seq, c.mark, ${SEAT_COLUMNS}, g.at AS given_up_at ${ofName} ${givenUp}`,
    seatById: `SELECT c.seq, c.mark, ${SEAT_COLUMNS} ${ofId}`,
    apiKeyById: `SELECT c.seq, c.mark, k.id, k.tenant, k.hash, k.expires_at, k.revoked_at, k.owner,
      (SELECT ${list('ks.seat_id', 'ks.position')} FROM api_key_seats ks
       WHERE ks.tenant = k.tenant AND ks.api_key_id = k.id) AS seat_ids
      FROM counter c LEFT JOIN api_keys k ON k.tenant = :tenant AND k.id = :id`,
    sessionById: `SELECT seq, mark, ${RECORD_COLUMNS} FROM counter
      LEFT JOIN sessions ON tenant = :tenant AND id = :id`,
  }
}

/**
 * `spaces` and `permissions` are JSON arrays of strings without escapes, so a quoted space or permission
 * occurs in the text only as an element.
 */
function grantColumns({ position, narrowsInSql }: Dialect): string {
  if (!narrowsInSql) return 's.id, s.name, s.spaces, s.permissions'
  const whole = `octet_length(s.spaces) + octet_length(s.permissions) <= ${COMPLETE_BYTES}`
  return `s.id, s.name, ${whole} AS complete,
    CASE WHEN ${whole} THEN s.spaces
      WHEN ${position('s.spaces', ':space')} > 0 THEN '[' || :space || ']' ELSE '[]' END AS spaces,
    CASE WHEN ${whole} THEN s.permissions
      WHEN ${position('s.permissions', `'"*"'`)} > 0 THEN '["*"]'
      WHEN ${position('s.permissions', ':permission')} > 0 THEN '[' || :permission || ']' ELSE '[]' END AS permissions`
}

/** Restricts a row to the question, where the database does not (`narrowsInSql`). */
function narrowed(row: Row | undefined, question: SeatQuestion): Row | undefined {
  if (row === undefined || row.id === null) return row
  const [spaces, permissions] = [text(row, 'spaces'), text(row, 'permissions')]
  if (Buffer.byteLength(spaces) + Buffer.byteLength(permissions) <= COMPLETE_BYTES)
    return { ...row, complete: true }
  const { space, permission } = quoted(question)
  // A search for `*` is about forty times as fast as one for `"*"`, which begins with the most frequent
  // character.
  const every = permissions.includes(EVERY_PERMISSION) && permissions.includes(EVERY)
  const held = every ? EVERY : permissions.includes(permission) ? permission : null
  return {
    ...row,
    complete: false,
    spaces: spaces.includes(space) ? `[${space}]` : '[]',
    permissions: held === null ? '[]' : `[${held}]`,
  }
}

/** `*` as an element. */
export const EVERY = `"${EVERY_PERMISSION}"`

/**
 * The parameters of the statements. Invalid spaces and permissions are replaced: they could match across
 * elements.
 */
export function quoted({ space, permission }: SeatQuestion): { space: string; permission: string } {
  return {
    space: isSpaceId(space) ? `"${space}"` : NO_MATCH,
    permission: isPermission(permission) ? `"${permission}"` : NO_MATCH,
  }
}

/** Never occurs, because no element is empty. */
const NO_MATCH = '""'

/** The value of a point read, and its position. */
export function asOf<V>(reading: Row | undefined, valueOf: (row: Row) => V): AsOf<V> {
  const row = counterRow(reading)
  return { seq: integer(row, 'seq'), mark: integer(row, 'mark'), value: valueOf(row) }
}

/** The value of an outer join; null: no row of the table has the id or name. */
function orNull<V>(valueOf: (row: Row) => V) {
  return (row: Row): V | null => (row.id === null ? null : valueOf(row))
}

function named<V>(seatOf: (row: Row) => V) {
  const seatOrNull = orNull(seatOf)
  return (row: Row): Named<V> => ({ seat: seatOrNull(row), givenUpAt: integerOrNull(row, 'given_up_at') })
}

function grantReading(row: Row): GrantReading {
  const permissions = JSON.parse(text(row, 'permissions'))
  return { ...spacesReading(row), permissions, complete: row.complete === true }
}

function spacesReading(row: Row): SpacesReading {
  return { id: text(row, 'id'), name: text(row, 'name'), spaces: JSON.parse(text(row, 'spaces')) }
}
