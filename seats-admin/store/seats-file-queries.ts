/** SQL of changes to many Seats that both drivers share, its parameters and rows. */

import type { Scope } from '../model/scope.ts'
import type { WantedSeats } from '../model/seat.ts'
import { apiKeyOfSpaces, seatIsVisible, visibilityOf } from './pages.ts'
import { type Dialect, integer, listedSeat, type Row, SEAT_COLUMNS, text } from './rows.ts'
import type { HoldingKeys } from '../model/planned-seats.ts'
import { MAX_CHANGES, MAX_KEY_NAMES, MAX_UNNAMED, namesOf, type SeatsReading } from './seats-file-rules.ts'

export function seatsFileQueries(dialect: Dialect) {
  const visible = seatIsVisible(dialect)
  const named = `s.tenant = :tenant AND s.name IN (${dialect.texts(':names')})`
  const others = `s.tenant = :tenant AND ${visible} AND s.name NOT IN (${dialect.texts(':names')})`
  const size = 'coalesce(sum(length(s.spaces) + length(s.permissions)), 0) AS size'
  return {
    namedSize: `SELECT ${size} FROM seats s WHERE ${named} AND ${visible}`,
    named: `SELECT ${SEAT_COLUMNS} FROM seats s WHERE ${named} AND ${visible}`,
    hidden: `SELECT s.name FROM seats s WHERE ${named} AND NOT ${visible}`,
    othersSize: `SELECT count(*) AS count, ${size} FROM seats s WHERE ${others}`,
    others: `SELECT ${SEAT_COLUMNS} FROM seats s WHERE ${others} ORDER BY s.name LIMIT ${MAX_CHANGES + 1}`,
    unnamed: `SELECT s.name FROM seats s WHERE ${others} ORDER BY s.name LIMIT ${MAX_UNNAMED}`,
    keys: `SELECT seat_id, name, found FROM (
        SELECT ks.seat_id, k.name, count(*) OVER (PARTITION BY ks.seat_id) AS found,
          row_number() OVER (PARTITION BY ks.seat_id ORDER BY k.id) AS at
        FROM api_key_seats ks JOIN api_keys k ON k.tenant = ks.tenant AND k.id = ks.api_key_id
        WHERE ks.tenant = :tenant AND ks.seat_id IN (${dialect.texts(':ids')}) AND k.revoked_at IS NULL
          AND (k.expires_at IS NULL OR k.expires_at > :now) AND (:admin = 1 OR (${apiKeyOfSpaces(dialect)}))
      ) held WHERE at <= ${MAX_KEY_NAMES} ORDER BY seat_id, at`,
    users: `SELECT s.member_count FROM seats s WHERE s.tenant = :tenant AND s.id IN (${dialect.texts(':ids')}) AND ${visible}`,
    keysOf: `SELECT seat_id, api_key_id FROM api_key_seats
      WHERE tenant = :tenant AND seat_id IN (${dialect.texts(':ids')}) ORDER BY seat_id, api_key_id`,
  }
}

/** The parameters of the queries of names. */
export function namedValues(tenant: string, scope: Scope, wanted: WantedSeats) {
  return { tenant, names: JSON.stringify(namesOf(wanted)), ...visibilityOf(scope) }
}

export function seatsReading(rows: readonly Row[], hidden: readonly Row[]): SeatsReading {
  return { seats: rows.map(listedSeat), hidden: new Set(hidden.map((row) => text(row, 'name'))) }
}

/** The ids of Seats that are there, as a parameter. */
export function idsOf(changes: readonly { readonly before: { readonly id: string } | null }[]): string {
  return JSON.stringify(changes.flatMap(({ before }) => before?.id ?? []))
}

/** By the id of the Seat. */
export function holdingKeys(rows: readonly Row[]): Map<string, HoldingKeys> {
  const groups = Map.groupBy(rows, (row) => text(row, 'seat_id'))
  return new Map(
    [...groups].map(([id, held]) => [
      id,
      { count: integer(held[0] ?? {}, 'found'), names: held.map((row) => text(row, 'name')) },
    ]),
  )
}

export const NO_KEYS: HoldingKeys = { count: 0, names: [] }
