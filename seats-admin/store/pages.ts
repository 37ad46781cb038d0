/** What administration reads, in SQL that both drivers share, and what of it a caller may see. */

import { type AdminRefusal, seatNotFound } from '../model/refusal.ts'
import { maySee, type Scope } from '../model/scope.ts'
import type { StoredSeat } from '../model/seat.ts'
import { apiKeyColumns, type Dialect, type Row, SEAT_COLUMNS, storedSeat } from './rows.ts'

/** Characters of row text after which a page ends: what is made of it passes through the gateway's one event loop. */
export const PAGE_TEXT = 256 * 1024

export interface Listing<V> {
  data: V[]
  hasMore: boolean
}

/**
 * Of a Seat `s`: the caller may see it. Asked of the store, so that neither the answer nor the work for it is another
 * for what the caller may not see than for what does not exist.
 */
export function seatSeen({ spacesColumn }: Dialect): string {
  return `(:admin = 1 OR ${spacesColumn} = :spaces)`
}

/** As parameters of {@link seatSeen}. */
export function seenBy(scope: Scope): { admin: number; spaces: string } {
  return { admin: Number(scope.admin), spaces: spacesOf(scope) }
}

export function seatById(dialect: Dialect): string {
  return `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.id = :id AND ${seatSeen(dialect)}`
}

/** In order of creation; one more row than the page has, to see whether there are more. */
const PAGE = 'ORDER BY id LIMIT :rows'

/** `…OfSpaces`: what of it is seen outside the admin space. */
export function adminQuestions(dialect: Dialect) {
  const seats = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.id > :after`
  const keys = `SELECT ${apiKeyColumns(dialect)} FROM api_keys k WHERE k.tenant = :tenant AND k.id`
  const keyOfSpaces = apiKeyOfSpaces(dialect)
  return {
    seat: seatById(dialect),
    seats: `${seats} ${PAGE}`,
    seatsOfSpaces: `${seats} AND ${dialect.spacesColumn} = :spaces ${PAGE}`,
    apiKey: `${keys} = :id`,
    apiKeyOfSpaces: `${keys} = :id AND ${keyOfSpaces}`,
    apiKeys: `${keys} > :after ${PAGE}`,
    apiKeysOfSpaces: `${keys} > :after AND ${keyOfSpaces} ${PAGE}`,
  }
}

/**
 * The API keys that are seen outside the admin space: those with Seats, all of just this space. The Seats of the space
 * are looked up in the index, once: reading what others hold in `spaces` could take a megabyte a Seat.
 */
export function apiKeyOfSpaces({ spacesColumn }: Dialect): string {
  const seatOfSpaces = `s.tenant = :tenant AND ${spacesColumn} = :spaces`
  return `k.id IN (SELECT ks.api_key_id FROM seats s
      JOIN api_key_seats ks ON ks.tenant = s.tenant AND ks.seat_id = s.id WHERE ${seatOfSpaces})
    AND NOT EXISTS (SELECT 1 FROM api_key_seats ks WHERE ks.tenant = :tenant AND ks.api_key_id = k.id
      AND ks.seat_id NOT IN (SELECT s.id FROM seats s WHERE ${seatOfSpaces}))`
}

export function visibleSeat(row: Row | undefined, scope: Scope): StoredSeat | AdminRefusal {
  if (row === undefined) return seatNotFound
  const seat = storedSeat(row)
  return maySee(scope, seat.spaces) ? seat : seatNotFound
}

/** The spaces of the Seats that are seen outside the admin space, as they are written in the column. */
export function spacesOf({ space }: Scope): string {
  return JSON.stringify([space])
}
