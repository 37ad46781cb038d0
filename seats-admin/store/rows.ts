/** The differences between the databases, and the conversion of rows to the model's types. */

import type { ApiKey, StoredApiKey } from '../model/api-key.ts'
import { EVERY_PERMISSION } from '../model/permission.ts'
import { ADMINISTRATING } from '../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../model/seat.ts'

/** A row that matches the schema. PostgreSQL's bigint is converted to a number. */
export type Row = Readonly<Record<string, unknown>>

/** The types of columns by name. */
export type Columns<N extends string = string> = Readonly<Record<N, 'text' | 'bigint' | 'boolean'>>

/** The differences between SQLite and PostgreSQL. */
export interface Dialect {
  /** The indexed column for Seats with exactly one space. */
  readonly spacesColumn: string
  /** An aggregate: a JSON array of the ordered values as text; `[]` without rows. */
  list(value: string, order: string): string
  /** The table of Seats, read by the index of {@link administrating}. */
  readonly administrators: string
  /** The table of Seats as `s`, read by the index of those with `*`. */
  readonly wildcards: string
  /** Position of `part` in `text`, counted from 1; 0 when absent. */
  position(text: string, part: string): string
  /** A subquery: the texts of the JSON array in a parameter. */
  texts(parameter: string): string
  /**
   * The condition that row `l` of the table fulfils `keys`, and that its `column` has one of these {@link
   * texts}. Each is found by the index. With `IN`, PostgreSQL without statistics compares each row with each
   * text: to delete 1,000 members of a group of 3,000 took 2.7 s.
   *
   * @param keys the condition on the columns of `l` that the index has before `column`
   */
  among(table: string, keys: string, column: string, parameter: string): string
  /** The table `name` of the objects of the JSON array in a parameter. */
  records(parameter: string, name: string, columns: Columns): string
  /**
   * The statement of a page (`Lists.page`) of these rows, which have an `id`. A server ends it by the size of
   * the preceding rows, so that it never sends a page of only large ones.
   *
   * @param large the columns that may be large
   */
  page(rows: string, large: readonly string[], order: 'ASC' | 'DESC'): string
  /** The end of a query that locks its rows until the end of the transaction. */
  readonly forUpdate: string
  /** The same as {@link forUpdate}, for the rows that no other transaction has locked. */
  readonly skipLocked: string
  /**
   * The end of `SELECT …`, which has no row while another transaction has, or waits for, {@link soleLock} of
   * the tenant of `:tenant`. If it has one, no other transaction gets that lock before the end of this one.
   */
  readonly ifNoSoleLock: string
  /** Columns of a query, with a trailing comma: a lock of the tenant until the end of the transaction. */
  readonly soleLock: string
  /**
   * A query for the `name` of a running instance of a version without blocks; null: no other version can be
   * running.
   */
  readonly instanceWithoutBlocks: string | null
  /**
   * A query for the `name` of a running instance that has not registered what `:understands` has, in
   * quotation marks; null: no other version can be running.
   */
  readonly instanceWithout: string | null
  /**
   * A query for the `name` and the `tables_from` of a running instance whose route tables are not those of
   * `:tables_from`; null: no other instance can be running.
   */
  readonly instanceWithOtherTables: string | null
  /** A query for the same of a running instance whose route tables are those of `:tables_from`; or null. */
  readonly instanceWithTables: string | null
  /** The time of the store in ms since the epoch. */
  readonly clock: string
  /** The condition that `text` contains `*`, at half the cost of {@link position} for `"*"`. */
  hasAsterisk(text: string): string
  /**
   * The join of each row with the rows of a table, read by its index.
   *
   * @param alias `l` if left out
   */
  lookup(table: string, condition: string, alias?: string): string
  /**
   * The join of each row with the Seat of a name, as row `l` with `tenant`, `seat_id` and `name`. Without
   * statistics, an equality lets PostgreSQL read all Seats of the tenant by another index: 2.6 ms instead of
   * 0.2 for a user among 500 Seats.
   */
  seatNamed(name: string): string
  /** The condition that row `l` of `members` is of the user `sub`. */
  isMember(sub: string): string
  /** What row `l` of `members` has of the `sub` of its user, as text, and what that is of one `sub`. */
  readonly member: string
  memberOf(sub: string): string
  /** The column of `members` that identifies the user, and what it has of a `sub`. */
  readonly memberColumn: string
  memberKey(sub: string): string | Uint8Array
  /** Whether the database restricts large Seats to the question; otherwise `decision-reader.ts` does. */
  readonly narrowsInSql: boolean
}

export const SEAT_COLUMNS =
  's.id, s.tenant, s.name, s.version, s.spaces, s.permissions, s.member_count, s.created_by, s.created_at, s.updated_by, s.updated_at'

/**
 * The condition that a Seat may administrate a tenant if it has the admin space. `permissions` is a JSON
 * array of strings without escapes, so a quoted permission occurs in the text only as an element.
 */
export function administrating({ position }: Pick<Dialect, 'position'>): string {
  const holds = (permission: string) => `${position('permissions', `'"${permission}"'`)} > 0`
  return `(${holds(EVERY_PERMISSION)} OR (${ADMINISTRATING.map(holds).join(' AND ')}))`
}

/**
 * Includes the names of the key's Seats as JSON, in the order of creation of the key.
 *
 * @param which a further condition on these Seats: `AND …` on `ks` and `s`
 */
export function apiKeyColumns({ list }: Dialect, which = ''): string {
  return `k.id, k.tenant, k.name, k.version, k.created_by, k.created_at, k.expires_at, k.revoked_at, k.owner, k.last_used_at,
  (SELECT ${list('s.name', 'ks.position')}
   FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
   WHERE ks.tenant = k.tenant AND ks.api_key_id = k.id ${which}) AS seats`
}

export function storedSeat(row: Row): StoredSeat {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    name: text(row, 'name'),
    version: integer(row, 'version'),
    spaces: JSON.parse(text(row, 'spaces')),
    permissions: JSON.parse(text(row, 'permissions')),
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
    updatedBy: textOrNull(row, 'updated_by'),
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
    version: integer(row, 'version'),
    seats: JSON.parse(text(row, 'seats')),
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
    expiresAt: integerOrNull(row, 'expires_at'),
    revokedAt: integerOrNull(row, 'revoked_at'),
    owner: quotedOrNull(row, 'owner'),
    lastUsedAt: integerOrNull(row, 'last_used_at'),
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
    owner: quotedOrNull(row, 'owner'),
  }
}

export function text(row: Row, column: string): string {
  const value = row[column]
  if (typeof value !== 'string') throw new TypeError(`column ${column} is not text`)
  return value
}

export function integer(row: Row, column: string): number {
  const value = row[column]
  if (typeof value !== 'number') throw new TypeError(`column ${column} is not an integer`)
  return value
}

export function integerOrNull(row: Row, column: string): number | null {
  return row[column] === null ? null : integer(row, column)
}

export function textOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : text(row, column)
}

/**
 * Values of identity providers and tokens are stored as JSON, which escapes unusual characters: PostgreSQL's
 * text can't hold U+0000 and lone surrogates, and SQLite changes the latter. Different users thus always have
 * different values.
 */
export function quoted(value: string | null): string | null {
  return value === null ? null : JSON.stringify(value)
}

export function quotedOrNull(row: Row, column: string): string | null {
  return row[column] === null ? null : JSON.parse(text(row, column))
}

export function blobOrNull(row: Row, column: string): Uint8Array | null {
  return row[column] === null ? null : blob(row, column)
}

function blob(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (!(value instanceof Uint8Array)) throw new TypeError(`column ${column} is not a blob`)
  return value
}

/** @throws when the counter row is missing */
export function counterRow(row: Row | undefined): Row {
  if (row === undefined) throw new Error('the store has no counter row')
  return row
}
