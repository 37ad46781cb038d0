/**
 * SQL of the checks before writes that both drivers share. Invisible Seats are not found, so that they differ from missing
 * ones neither in the response nor in the work.
 */

import { type AdminRefusal, grantExceedsOwn, seatNameTaken } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import { apiKeyOfSpaces, seatIsVisible, spacesOf } from './pages.ts'
import { administrating, type Dialect, integer, type Row } from './rows.ts'

export function writeQueries(dialect: Dialect) {
  const seen = seatIsVisible(dialect)
  return {
    /** No row if the name is free. `seen`: 1 if the caller may see the Seat with the name. */
    name: `SELECT CASE WHEN ${seen} THEN 1 ELSE 0 END AS seen FROM seats s WHERE s.tenant = :tenant AND s.name = :name`,
    apiKey: `SELECT k.id FROM api_keys k
      WHERE k.tenant = :tenant AND k.id = :id AND (:admin = 1 OR (${apiKeyOfSpaces(dialect)}))`,
    administrator: administratorBeside(dialect),
  }
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
