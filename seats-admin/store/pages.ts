/** Statements of administration's reads, restricted to what the caller may see. */

import { type AdminRefusal, seatNotFound } from '../model/refusal.ts'
import { maySee, type Scope } from '../model/scope.ts'
import type { StoredSeat } from '../model/seat.ts'
import type { User } from '../model/user.ts'
import { apiKeyColumns, type Dialect, type Row, SEAT_COLUMNS, storedSeat, user, userColumns } from './rows.ts'
import type { Listing } from './store.ts'

/** Characters of row text after which a page ends, because serializing it blocks the event loop. */
export const PAGE_TEXT = 256 * 1024

export function listing<V>(data: V[], next: string | null): Listing<V> {
  return { data, hasMore: next !== null, next }
}

/**
 * The condition that the caller may see Seat `s`. The store evaluates it, so that an invisible Seat and a missing one differ
 * neither in the response nor in the work.
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

/** In order of creation; one row more than the page, to learn whether there are more. */
const PAGE = 'ORDER BY id LIMIT :rows'

/** Lists are pages. `…OfSpaces`: restricted to what is visible outside the admin space. */
export function adminQueries(dialect: Dialect) {
  const pageOfSeats = (rows: string) => dialect.page(`${rows} ${PAGE}`, ['spaces', 'permissions'], 'ASC')
  const pageOfKeys = (rows: string) => dialect.page(`${rows} ${PAGE}`, ['seats'], 'ASC')
  const seats = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.id > :after`
  const keys = `SELECT ${apiKeyColumns(dialect)} FROM api_keys k WHERE k.tenant = :tenant AND k.id`
  const keyOfSpaces = apiKeyOfSpaces(dialect)
  return {
    seat: seatById(dialect),
    seats: pageOfSeats(seats),
    seatsOfSpaces: pageOfSeats(`${seats} AND ${dialect.spacesColumn} = :spaces`),
    apiKey: `${keys} = :id`,
    apiKeyOfSpaces: `${keys} = :id AND ${keyOfSpaces}`,
    apiKeys: pageOfKeys(`${keys} > :after`),
    apiKeysOfSpaces: pageOfKeys(`${keys} > :after AND ${keyOfSpaces}`),
  }
}

/**
 * The API keys visible outside the admin space: keys with Seats, all of them of exactly this space. The index finds the
 * Seats of the space; reading the `spaces` of other Seats could take a megabyte each.
 */
export function apiKeyOfSpaces({ spacesColumn }: Dialect, id = 'k.id'): string {
  const seatOfSpaces = `s.tenant = :tenant AND ${spacesColumn} = :spaces`
  return `${id} IN (SELECT ks.api_key_id FROM seats s
      JOIN api_key_seats ks ON ks.tenant = s.tenant AND ks.seat_id = s.id WHERE ${seatOfSpaces})
    AND NOT EXISTS (SELECT 1 FROM api_key_seats ks WHERE ks.tenant = :tenant AND ks.api_key_id = ${id}
      AND ks.seat_id NOT IN (SELECT s.id FROM seats s WHERE ${seatOfSpaces}))`
}

export function userQuery(dialect: Dialect): string {
  return `SELECT ${userColumns(dialect, `AND ${seatIsVisible(dialect)}`)} FROM users u WHERE u.tenant = :tenant AND u.sub = :sub`
}

/** Outside the admin space a user is visible through a visible Seat. */
export function visibleUser(row: Row | undefined, scope: Scope): User | null {
  if (row === undefined) return null
  const found = user(row)
  return scope.admin || found.seats.length > 0 ? found : null
}

export function visibleSeat(row: Row | undefined, scope: Scope): StoredSeat | AdminRefusal {
  if (row === undefined) return seatNotFound
  const seat = storedSeat(row)
  return maySee(scope, seat.spaces) ? seat : seatNotFound
}

/** The column `spaces` of Seats visible outside the admin space. */
export function spacesOf({ space }: Scope): string {
  return JSON.stringify([space])
}
