/**
 * Statements of writes to Seats, and of the checks before them. Invisible Seats are not found, so that they
 * differ from missing ones neither in the response nor in the work.
 */

import { type AdminRefusal, grantExceedsOwn, seatNameTaken } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { StoredSeat } from '../model/seat.ts'
import { apiKeyOfSpaces, seatById, seatIsVisible, spacesOf } from './pages.ts'
import {
  administrating,
  apiKeyColumns,
  type Columns,
  type Dialect,
  integer,
  type Row,
  SEAT_COLUMNS,
} from './rows.ts'
import type { Insertion } from './statements.ts'
import type { Writer } from './store.ts'

export function seatQueries(dialect: Dialect) {
  const seen = seatIsVisible(dialect)
  return {
    byId: seatById(dialect),
    /** No row if the name is free. `seen`: 1 if the caller may see the Seat with the name. */
    byName: `SELECT CASE WHEN ${seen} THEN 1 ELSE 0 END AS seen FROM seats s WHERE s.tenant = :tenant AND s.name = :name`,
    administrator: administratorBeside(dialect),
    insert: `INSERT INTO seats (tenant, id, name, version, spaces, permissions, created_by, created_at)
      VALUES (:tenant, :id, :name, :version, :spaces, :permissions, :by, :now)`,
    update: `UPDATE seats SET name = :name, version = :version, spaces = :spaces, permissions = :permissions,
      updated_by = :by, updated_at = :now WHERE tenant = :tenant AND id = :id`,
    /** Members and assignments to API keys are deleted by cascade. */
    delete: 'DELETE FROM seats WHERE tenant = :tenant AND id = :id',
    keysOf:
      'SELECT api_key_id FROM api_key_seats WHERE tenant = :tenant AND seat_id = :id ORDER BY api_key_id',
  }
}

/** Marks the given-up names with the later of the writer's and the store's time, in whole seconds. */
export function giveUpNames(dialect: Dialect): string {
  const later = (a: string, b: string) => `CASE WHEN ${a} > ${b} THEN ${a} ELSE ${b} END`
  return `INSERT INTO names_given_up AS g (tenant, name, at)
    SELECT :tenant, n.name, ${later('CAST(:given_up_at AS bigint)', `${dialect.clock} / 1000`)}
    FROM ${dialect.records(':given_up', 'n', { name: 'text' })} WHERE n.name IS NOT NULL
    ON CONFLICT (tenant, name) DO UPDATE SET at = ${later('g.at', 'excluded.at')}`
}

/** Whatever the caller may see. */
export const seatByName = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.name = :name`

export const apiKeyInsert = `INSERT INTO api_keys (tenant, id, name, hash, created_by, created_at, expires_at)
  VALUES (:tenant, :id, :name, :hash, :by, :now, :expires_at)`

const HELD: Columns = { tenant: 'text', api_key_id: 'text', position: 'bigint', seat_id: 'text' }

/** The Seats of a new API key, in order. */
export function insertHeldSeats(tenant: string, api_key_id: string, seatIds: readonly string[]): Insertion {
  const records = seatIds.map((seat_id, position) => ({ tenant, api_key_id, position, seat_id }))
  return { table: 'api_key_seats', columns: HELD, records }
}

export function apiKeyQuery(dialect: Dialect): string {
  return `SELECT ${apiKeyColumns(dialect)} FROM api_keys k
    WHERE k.tenant = :tenant AND k.id = :id AND (:admin = 1 OR (${apiKeyOfSpaces(dialect)}))`
}

/** The parameters of `insert` and `update`. */
export function seatValues(
  { tenant, by, now }: Writer,
  { id, name, version, spaces, permissions }: StoredSeat,
) {
  const granting = { spaces: JSON.stringify(spaces), permissions: JSON.stringify(permissions) }
  return { tenant, id, name, version, ...granting, by, now }
}

/**
 * Finds another Seat that administrates the tenant. The index finds Seats with only the admin space; Seats with further
 * spaces are scanned only if there is none.
 */
function administratorBeside({ administrators, position, spacesColumn }: Dialect): string {
  const column = spacesColumn.replace(/^s\./, '')
  const others = `SELECT id FROM ${administrators}
    WHERE tenant = :tenant AND ${administrating({ position })} AND id <> :id`
  return `${others} AND ${column} = :alone
    UNION ALL ${others} AND ${position('spaces', ':listed')} > 0 LIMIT 1`
}

/**
 * @returns null if the name is free. A caller who may not see the Seat with the name gets the general refusal, which does
 * not reveal that the Seat exists.
 */
export function nameTaken(row: Row | undefined): AdminRefusal | null {
  if (row === undefined) return null
  return integer(row, 'seen') === 1 ? seatNameTaken : grantExceedsOwn
}

/** The parameters of `administrator`. */
export function otherAdministratorValues(tenant: string, id: string, scope: Scope) {
  return { tenant, id, alone: spacesOf(scope), listed: JSON.stringify(scope.space) }
}
