/** Writes to API keys. Runs in the writer's thread; each method in its own transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type ApiKey, hashApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound, grantExceedsOwn, isRefusal } from '../../model/refusal.ts'
import { type Granting, grantsAny, mayManageKey, type Scope } from '../../model/scope.ts'
import { apiKeyChange, newApiKey, seatIdsOf } from '../api-key-rules.ts'
import { seatIsVisible, visibilityOf } from '../pages.ts'
import { text } from '../rows.ts'
import { writeQueries } from '../seat-queries.ts'
import type { ApiKeyInput, Writer, Written } from '../store.ts'
import type { RunningCall } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { sqlite } from './dialect.ts'

export class ApiKeyWriter {
  readonly #log: ChangeLog
  readonly #running: RunningCall
  readonly #seatByName: StatementSync
  readonly #seatsOf: StatementSync
  readonly #granting: StatementSync
  readonly #find: StatementSync
  readonly #insert: StatementSync
  readonly #addSeat: StatementSync
  readonly #revoke: StatementSync

  constructor(database: DatabaseSync, log: ChangeLog, running: RunningCall) {
    this.#log = log
    this.#running = running
    this.#seatByName = database.prepare(
      `SELECT s.id, s.name FROM seats s WHERE s.tenant = :tenant AND s.name = :name AND ${seatIsVisible(sqlite)}`,
    )
    this.#seatsOf = database.prepare(
      'SELECT seat_id AS id FROM api_key_seats WHERE tenant = ? AND api_key_id = ?',
    )
    // Either may take a megabyte: read only if it matters.
    this.#granting = database.prepare(
      `SELECT CASE WHEN :admin THEN '[]' ELSE spaces END AS spaces,
         CASE WHEN :any THEN '[]' ELSE permissions END AS permissions
       FROM seats WHERE tenant = :tenant AND id = :id`,
    )
    this.#find = database.prepare(writeQueries(sqlite).apiKey)
    this.#insert = database.prepare(
      'INSERT INTO api_keys (tenant, id, name, hash, created_by, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
    )
    this.#addSeat = database.prepare(
      'INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id) VALUES (?, ?, ?, ?)',
    )
    this.#revoke = database.prepare(
      'UPDATE api_keys SET revoked_at = coalesce(revoked_at, ?) WHERE tenant = ? AND id = ?',
    )
  }

  create(writer: Writer, input: ApiKeyInput): Written<ApiKey & { key: string }> | AdminRefusal {
    const { tenant, by, scope, now } = writer
    const seatIds = seatIdsOf(input.seats, this.#seatsByName(writer, input.seats))
    if (isRefusal(seatIds)) return seatIds
    if (!mayManageKey(scope, this.#grants(tenant, seatIds, scope))) return grantExceedsOwn
    const made = newApiKey(writer, this.#log.idTime(now), input)
    this.#insert.run(tenant, made.id, made.name, hashApiKey(made.key), by, now, made.expiresAt)
    for (const [position, seat] of seatIds.entries()) this.#addSeat.run(tenant, made.id, position, seat)
    return { ...this.#log.append([apiKeyChange(tenant, made.id)]), value: made }
  }

  /**
   * A second revocation keeps the first time, but is announced again: the first response may have been lost before the
   * change was applied.
   */
  revoke(writer: Writer, id: string): Written<null> | AdminRefusal {
    const { tenant, scope, now } = writer
    if (this.#find.get({ tenant, id, ...visibilityOf(scope) }) === undefined) return apiKeyNotFound
    const seats = this.#seatsOf.all(tenant, id).map((row) => text(row, 'id'))
    if (!mayManageKey(scope, this.#grants(tenant, seats, scope))) return grantExceedsOwn
    this.#revoke.run(now, tenant, id)
    return { ...this.#log.append([apiKeyChange(tenant, id)]), value: null }
  }

  #seatsByName({ tenant, scope }: Writer, names: readonly string[]): ReadonlyMap<string, string> {
    const seen = visibilityOf(scope)
    const rows = names
      .map((name) => this.#seatByName.get({ tenant, name, ...seen }))
      .filter((row) => row !== undefined)
    return new Map(rows.map((row) => [text(row, 'name'), text(row, 'id')]))
  }

  /** What the Seats grant, as far as the scope requires. Reads one at a time and stops when the call expires. */
  *#grants(tenant: string, seatIds: readonly string[], scope: Scope): Generator<Granting> {
    const needed = { tenant, admin: Number(scope.admin), any: Number(grantsAny(scope)) }
    for (const id of seatIds) {
      this.#running.throwIfExpired()
      const row = this.#granting.get({ ...needed, id })
      if (row === undefined) throw new Error('the Seat went away during a transaction')
      yield { spaces: JSON.parse(text(row, 'spaces')), permissions: JSON.parse(text(row, 'permissions')) }
    }
  }
}
