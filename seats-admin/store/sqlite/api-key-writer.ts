/** Writes to API keys. Runs in the writer's thread; each method inside a transaction of its own. */

import { randomBytes } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type ApiKey, formatApiKey, hashApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound, grantExceedsOwn, unknownSeats } from '../../model/refusal.ts'
import { type Granting, grantsAny, mayManageKey, type Scope } from '../../model/scope.ts'
import { crockford, ulid } from '../../model/ulid.ts'
import type { ApiKeyInput, Writer, Written } from '../store.ts'
import type { Running } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { text } from './rows.ts'

/** 5 bits of each become a character: 130 random bits. */
const RANDOM_BYTES = 26

export class ApiKeyWriter {
  readonly #log: ChangeLog
  readonly #running: Running
  readonly #seatByName: StatementSync
  readonly #seatsOf: StatementSync
  readonly #granting: StatementSync
  readonly #find: StatementSync
  readonly #insert: StatementSync
  readonly #addSeat: StatementSync
  readonly #revoke: StatementSync

  constructor(database: DatabaseSync, log: ChangeLog, running: Running) {
    this.#log = log
    this.#running = running
    this.#seatByName = database.prepare('SELECT id, name FROM seats WHERE tenant = ? AND name = ?')
    this.#seatsOf = database.prepare(
      'SELECT seat_id AS id FROM api_key_seats WHERE tenant = ? AND api_key_id = ?',
    )
    // Either can be a megabyte: read only where it decides.
    this.#granting = database.prepare(
      `SELECT CASE WHEN :admin THEN '[]' ELSE spaces END AS spaces,
         CASE WHEN :any THEN '[]' ELSE permissions END AS permissions
       FROM seats WHERE tenant = :tenant AND id = :id`,
    )
    this.#find = database.prepare('SELECT id FROM api_keys WHERE tenant = ? AND id = ?')
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
    const { name, expiresAt } = input
    const found = input.seats.map((seat) => this.#seatByName.get(tenant, seat))
    const seats = found
      .filter((row) => row !== undefined)
      .map((row) => ({ id: text(row, 'id'), name: text(row, 'name') }))
    if (seats.length < found.length)
      return unknownSeats(found.flatMap((seat, at) => (seat === undefined ? [at] : [])))
    if (
      !mayManageKey(
        scope,
        this.#grants(
          tenant,
          seats.map((seat) => seat.id),
          scope,
        ),
      )
    )
      return grantExceedsOwn
    const id = ulid(this.#log.idTime(now), randomBytes(16))
    const key = formatApiKey(tenant, id, crockford(randomBytes(RANDOM_BYTES)))
    this.#insert.run(tenant, id, name, hashApiKey(key), by, now, expiresAt)
    for (const [position, seat] of seats.entries()) this.#addSeat.run(tenant, id, position, seat.id)
    const committed = this.#log.append([{ tenant, kind: 'api-key', key: id }])
    const names = seats.map((seat) => seat.name)
    const times = { createdBy: by, createdAt: now, expiresAt, revokedAt: null }
    return { ...committed, value: { id, tenant, name, seats: names, ...times, key } }
  }

  /**
   * Revoked stays revoked since the first time. It is announced each time: who asks again may have got no answer,
   * and memory may not have heard yet.
   */
  revoke(writer: Writer, id: string): Written<null> | AdminRefusal {
    const { tenant, scope, now } = writer
    if (this.#find.get(tenant, id) === undefined) return apiKeyNotFound
    const seats = this.#seatsOf.all(tenant, id).map((row) => text(row, 'id'))
    if (!mayManageKey(scope, this.#grants(tenant, seats, scope))) return grantExceedsOwn
    this.#revoke.run(now, tenant, id)
    return { ...this.#log.append([{ tenant, kind: 'api-key', key: id }]), value: null }
  }

  /** What the Seats grant, as far as the scope needs to know: one at a time, and no more once the caller has given up. */
  *#grants(tenant: string, seatIds: readonly string[], scope: Scope): Generator<Granting> {
    const needed = { tenant, admin: Number(scope.admin), any: Number(grantsAny(scope)) }
    for (const id of seatIds) {
      this.#running.timely()
      const row = this.#granting.get({ ...needed, id })
      if (row === undefined) throw new Error('the Seat went away during a transaction')
      yield { spaces: JSON.parse(text(row, 'spaces')), permissions: JSON.parse(text(row, 'permissions')) }
    }
  }
}
