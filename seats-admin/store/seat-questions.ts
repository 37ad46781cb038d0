/**
 * What writes to Seats and API keys ask first, in SQL that both drivers share. What the caller may not see is not found:
 * neither the answer nor the work for it is another than for what does not exist.
 */

import { type AdminRefusal, grantExceedsOwn, seatNameTaken } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import { apiKeyOfSpaces, seatSeen, spacesOf } from './pages.ts'
import { administrating, type Dialect, integer, type Row } from './rows.ts'

export function writeQuestions(dialect: Dialect) {
  const seen = seatSeen(dialect)
  return {
    /** No row where the name is free. `seen`: 1 where the caller may see whose it is. */
    name: `SELECT CASE WHEN ${seen} THEN 1 ELSE 0 END AS seen FROM seats s WHERE s.tenant = :tenant AND s.name = :name`,
    apiKey: `SELECT k.id FROM api_keys k
      WHERE k.tenant = :tenant AND k.id = :id AND (:admin = 1 OR (${apiKeyOfSpaces(dialect)}))`,
    administrator: administratorBeside(dialect),
  }
}

/**
 * Another Seat that administrates the tenant. One that has the admin space alone is found by the index at once; only
 * where there is none, those with other spaces are looked through, of the Seats with such permissions.
 */
function administratorBeside({ administrators, position, spacesColumn }: Dialect): string {
  const column = spacesColumn.replace(/^s\./, '')
  const others = `SELECT id FROM ${administrators}
    WHERE tenant = :tenant AND ${administrating({ position })} AND id <> :id`
  return `${others} AND ${column} = :alone
    UNION ALL ${others} AND ${position('spaces', ':listed')} > 0 LIMIT 1`
}

/**
 * Null where the name is free. The tenant's names are unique: whoever may not see the Seat that has the name is refused
 * in the words of any other refusal, which do not say that there is such a Seat.
 */
export function nameTaken(row: Row | undefined): AdminRefusal | null {
  if (row === undefined) return null
  return integer(row, 'seen') === 1 ? seatNameTaken : grantExceedsOwn
}

/** As parameters of `administrator`. */
export function administratorBesides(tenant: string, id: string, scope: Scope) {
  return { tenant, id, alone: spacesOf(scope), listed: JSON.stringify(scope.space) }
}
