/** Rows as the statements of both drivers give them, and the nouns made of them. */

import type { ApiKey, StoredApiKey } from '../model/api-key.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import { ADMINISTRATING } from '../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../model/seat.ts'

/** Trusted to be what the schema says. PostgreSQL's bigint comes as a number, too. */
export type Row = Readonly<Record<string, unknown>>

/**
 * What is said otherwise in SQLite than in PostgreSQL. In the statements that they share, parameters are `:names`, which
 * SQLite knows and `postgres/sql.ts` makes numbers of.
 */
export interface Dialect {
  /** The column by which Seats are found that have just one space. */
  readonly spacesColumn: string
  /** An aggregate: a JSON array, as text, of the values in this order; `[]` of no rows. */
  list(value: string, order: string): string
  /** The table of Seats, to be read by the index of those that {@link administrating} finds. */
  readonly administrators: string
  /** Where `part` begins in `text`, from 1; 0: nowhere. */
  position(text: string, part: string): string
  /** Large Seats are narrowed down to a question by the database; else by the driver, from all of the text. */
  readonly narrowsInSql: boolean
}

export const SEAT_COLUMNS =
  's.id, s.tenant, s.name, s.spaces, s.permissions, s.member_count, s.created_by, s.created_at, s.updated_by, s.updated_at'

/**
 * The Seats that could administrate a tenant, if one of their spaces is its admin space. `permissions` is a JSON array of
 * strings without escapes: one in quotes is found in its text just where it is an element.
 */
export function administrating({ position }: Pick<Dialect, 'position'>): string {
  const holds = (permission: string) => `${position('permissions', `'"${permission}"'`)} > 0`
  return `(${holds(EVERY_PERMISSION)} OR (${ADMINISTRATING.map(holds).join(' AND ')}))`
}

/** With the names of the key's Seats as JSON, in the order in which they were given. */
export function apiKeyColumns({ list }: Dialect): string {
  return `k.id, k.tenant, k.name, k.created_by, k.created_at, k.expires_at, k.revoked_at,
  (SELECT ${list('s.name', 'ks.position')}
   FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
   WHERE ks.tenant = k.tenant AND ks.api_key_id = k.id) AS seats`
}

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

export function storedApiKey(row: Row): StoredApiKey {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    hash: blob(row, 'hash'),
    seatIds: JSON.parse(text(row, 'seat_ids')),
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

export function blobOrNull(row: Row, column: string): Uint8Array | null {
  return row[column] === null ? null : blob(row, column)
}

function blob(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`column ${column} is no blob`)
  return value
}
