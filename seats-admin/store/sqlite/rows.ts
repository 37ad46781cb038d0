/** Rows as the statements give them, and the nouns made of them. */

import type { SQLOutputValue } from 'node:sqlite'
import type { ApiKey } from '../../model/api-key.ts'
import type { ListedSeat, StoredSeat } from '../../model/seat.ts'

/** What `get` and `all` give: trusted to be what the schema, whose tables are STRICT, says. */
export type Row = Record<string, SQLOutputValue>

export const SEAT_COLUMNS =
  's.id, s.tenant, s.name, s.spaces, s.permissions, s.member_count, s.created_by, s.created_at, s.updated_by, s.updated_at'

/** With the names of the key's Seats as JSON, in the order in which they were given. */
export const API_KEY_COLUMNS = `k.id, k.tenant, k.name, k.created_by, k.created_at, k.expires_at, k.revoked_at,
  (SELECT json_group_array(s.name ORDER BY ks.position)
   FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
   WHERE ks.tenant = k.tenant AND ks.api_key_id = k.id) AS seats`

export function storedSeat(row: Row): StoredSeat {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    name: text(row, 'name'),
    spaces: JSON.parse(text(row, 'spaces')),
    permissions: JSON.parse(text(row, 'permissions')),
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
    updatedBy: row.updated_by === null ? null : text(row, 'updated_by'),
    updatedAt: integerOrNull(row, 'updated_at'),
  }
}

export function listedSeat(row: Row): ListedSeat {
  return { ...storedSeat(row), memberCount: integer(row, 'member_count') }
}

export function apiKey(row: Row): ApiKey {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    name: text(row, 'name'),
    seats: JSON.parse(text(row, 'seats')),
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
  }
}

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} is no text`)
  return value
}

export function integer(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`column ${column} is no integer`)
  return value
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

export function blob(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`column ${column} is no blob`)
  return value
}
