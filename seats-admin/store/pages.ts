/** What the caller of administration may see, in statements and their parameters. */

import type { Scope } from '../model/scope.ts'
import { apiKeyColumns, type Dialect, SEAT_COLUMNS } from './rows.ts'
import type { Listing } from './store.ts'

/** Characters of row text after which a page ends, because serializing it blocks the event loop. */
export const PAGE_TEXT = 256 * 1024

export function listing<V>(data: V[], next: string | null): Listing<V> {
  return { data, hasMore: next !== null, next }
}

/**
 * The condition that the caller may see Seat `s`. The store evaluates it, so that an invisible Seat and a
 * missing one differ neither in the response nor in the work.
 */
export function seatIsVisible({ spacesColumn }: Dialect): string {
  return `(:admin = 1 OR ${spacesColumn} = :spaces)`
}

/** The parameters of {@link seatIsVisible}. */
export function visibilityOf(scope: Scope): { admin: number; spaces: string } {
  return { admin: Number(scope.admin), spaces: spacesOf(scope) }
}

export function seatById(dialect: Dialect): string {
  return `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.id = :id AND ${seatIsVisible(dialect)}`
}

/**
 * The API keys visible outside the admin space: keys with Seats, all of them of exactly this space. The index
 * finds the Seats of the space; reading the `spaces` of other Seats could take a megabyte each.
 */
export function apiKeyOfSpaces({ spacesColumn }: Dialect): string {
  const seatOfSpaces = `s.tenant = :tenant AND ${spacesColumn} = :spaces`
  return `k.id IN (SELECT ks.api_key_id FROM seats s
      JOIN api_key_seats ks ON ks.tenant = s.tenant AND ks.seat_id = s.id WHERE ${seatOfSpaces})
    AND NOT EXISTS (SELECT 1 FROM api_key_seats ks WHERE ks.tenant = :tenant AND ks.api_key_id = k.id
      AND ks.seat_id NOT IN (SELECT s.id FROM seats s WHERE ${seatOfSpaces}))`
}

/** The condition that the caller may see API key `k`, by the parameters of {@link seatIsVisible}. */
export function apiKeyIsVisible(dialect: Dialect): string {
  return `(:admin = 1 OR (${apiKeyOfSpaces(dialect)}))`
}

export function apiKeyById(dialect: Dialect): string {
  return `SELECT ${apiKeyColumns(dialect)} FROM api_keys k
    WHERE k.tenant = :tenant AND k.id = :id AND ${apiKeyIsVisible(dialect)}`
}

/** The column `spaces` of Seats visible outside the admin space. */
export function spacesOf({ space }: Scope): string {
  return JSON.stringify([space])
}
