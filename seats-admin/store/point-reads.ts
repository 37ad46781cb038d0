/**
 * The questions of the data plane, in SQL that both drivers share. Each is one statement that also reads the counter:
 * value and position are of one snapshot.
 */

import type { StoredApiKey } from '../model/api-key.ts'
import { EVERY_PERMISSION, isPermission } from '../model/permission.ts'
import type { StoredSeat } from '../model/seat.ts'
import { isSpaceId } from '../model/space.ts'
import {
  type Dialect,
  integer,
  integerOrNull,
  type Row,
  SEAT_COLUMNS,
  storedApiKey,
  storedSeat,
  text,
} from './rows.ts'
import { RECORD_COLUMNS, sessionRecord } from './session-rows.ts'
import type { SessionReading } from './session-store.ts'
import type {
  AsOf,
  GrantReading,
  NamedGrantReading,
  NameReading,
  SeatQuestion,
  SpacesReading,
} from './store.ts'

/**
 * Bytes of `spaces` and `permissions` up to which a decision gets a Seat whole: some 150 permissions. Of a larger Seat
 * the store answers the question that the decision asks, so that the cost of a decision does not grow with the Seat.
 */
const WHOLE_BYTES = 4096

export function pointReads(dialect: Dialect) {
  const { list } = dialect
  const grant = grantColumns(dialect)
  return {
    grantByName: `SELECT c.seq, c.mark, ${grant}, g.at AS given_up_at FROM counter c
      LEFT JOIN seats s ON s.tenant = :tenant AND s.name = :name
      LEFT JOIN names_given_up g ON g.tenant = :tenant AND g.name = :name`,
    grantById: `SELECT c.seq, c.mark, ${grant} FROM counter c
      LEFT JOIN seats s ON s.tenant = :tenant AND s.id = :id`,
    spacesByName: `SELECT c.seq, c.mark, s.id, s.name, s.spaces FROM counter c
      LEFT JOIN seats s ON s.tenant = :tenant AND s.name = :name`,
    seatByName: `SELECT c.seq, c.mark, ${SEAT_COLUMNS}, g.at AS given_up_at FROM counter c
      LEFT JOIN seats s ON s.tenant = :tenant AND s.name = :name
      LEFT JOIN names_given_up g ON g.tenant = :tenant AND g.name = :name`,
    seatById: `SELECT c.seq, c.mark, ${SEAT_COLUMNS} FROM counter c
      LEFT JOIN seats s ON s.tenant = :tenant AND s.id = :id`,
    apiKeyById: `SELECT c.seq, c.mark, k.id, k.tenant, k.hash, k.expires_at, k.revoked_at,
      (SELECT ${list('ks.seat_id', 'ks.position')} FROM api_key_seats ks
       WHERE ks.tenant = k.tenant AND ks.api_key_id = k.id) AS seat_ids
      FROM counter c LEFT JOIN api_keys k ON k.tenant = :tenant AND k.id = :id`,
    sessionById: `SELECT seq, mark, ${RECORD_COLUMNS} FROM counter
      LEFT JOIN sessions ON tenant = :tenant AND id = :id`,
  }
}

/**
 * `spaces` and `permissions` are JSON arrays of strings without escapes: a permission or a space in quotes is found in
 * the text just where it is an element.
 */
function grantColumns({ position, narrowsInSql }: Dialect): string {
  if (!narrowsInSql) return 's.id, s.name, s.spaces, s.permissions'
  const whole = `octet_length(s.spaces) + octet_length(s.permissions) <= ${WHOLE_BYTES}`
  return `s.id, s.name, ${whole} AS complete,
    CASE WHEN ${whole} THEN s.spaces
      WHEN ${position('s.spaces', ':space')} > 0 THEN '[' || :space || ']' ELSE '[]' END AS spaces,
    CASE WHEN ${whole} THEN s.permissions
      WHEN ${position('s.permissions', `'"*"'`)} > 0 THEN '["*"]'
      WHEN ${position('s.permissions', ':permission')} > 0 THEN '[' || :permission || ']' ELSE '[]' END AS permissions`
}

/** What the statements do themselves where the database finds a part of a text. */
export function narrowed(row: Row | undefined, question: SeatQuestion): Row | undefined {
  if (row === undefined || row.id === null) return row
  const [spaces, permissions] = [text(row, 'spaces'), text(row, 'permissions')]
  if (Buffer.byteLength(spaces) + Buffer.byteLength(permissions) <= WHOLE_BYTES)
    return { ...row, complete: true }
  const { space, permission } = quoted(question)
  // One character is found some forty times as fast as three that begin with the commonest one.
  const every = permissions.includes(EVERY_PERMISSION) && permissions.includes(EVERY)
  const held = every ? EVERY : permissions.includes(permission) ? permission : null
  return {
    ...row,
    complete: false,
    spaces: spaces.includes(space) ? `[${space}]` : '[]',
    permissions: held === null ? '[]' : `[${held}]`,
  }
}

const EVERY = `"${EVERY_PERMISSION}"`

/** As parameters of the statements. What is no space or permission could be found between two elements. */
export function quoted({ space, permission }: SeatQuestion): { space: string; permission: string } {
  return {
    space: isSpaceId(space) ? `"${space}"` : NOWHERE,
    permission: isPermission(permission) ? `"${permission}"` : NOWHERE,
  }
}

/** No element is empty, so that nowhere two quotes stand side by side. */
const NOWHERE = '""'

export function namedGrantReading(row: Row | undefined): AsOf<NamedGrantReading> {
  return asOf(row, (found) => ({ seat: grantOrNull(found), givenUpAt: integerOrNull(found, 'given_up_at') }))
}

export function grantReading(row: Row | undefined): AsOf<GrantReading | null> {
  return asOf(row, grantOrNull)
}

export function spacesReading(row: Row | undefined): AsOf<SpacesReading | null> {
  return asOf(row, spacesOrNull)
}

export function nameReading(row: Row | undefined): AsOf<NameReading> {
  return asOf(row, (found) => ({
    seat: seatOrNull(found),
    givenUpAt: integerOrNull(found, 'given_up_at'),
  }))
}

export function seatReading(row: Row | undefined): AsOf<StoredSeat | null> {
  return asOf(row, seatOrNull)
}

export function apiKeyReading(row: Row | undefined): AsOf<StoredApiKey | null> {
  return asOf(row, (found) => (found.id === null ? null : storedApiKey(found)))
}

export function sessionReading(row: Row | undefined): SessionReading {
  return asOf(row, (found) => (found.id === null ? null : sessionRecord(found)))
}

/** Throws where the store has lost its counter: every other row hangs on it. */
export function counted(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the store has no counter')
  return row
}

function asOf<V>(found: Row | undefined, valueOf: (row: Row) => V): AsOf<V> {
  const row = counted(found)
  return { seq: integer(row, 'seq'), mark: integer(row, 'mark'), value: valueOf(row) }
}

function grantOrNull(row: Row): GrantReading | null {
  if (row.id === null) return null
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    spaces: JSON.parse(text(row, 'spaces')),
    permissions: JSON.parse(text(row, 'permissions')),
    complete: row.complete === true,
  }
}

function spacesOrNull(row: Row): SpacesReading | null {
  if (row.id === null) return null
  return { id: text(row, 'id'), name: text(row, 'name'), spaces: JSON.parse(text(row, 'spaces')) }
}

function seatOrNull(row: Row): StoredSeat | null {
  return row.id === null ? null : storedSeat(row)
}
