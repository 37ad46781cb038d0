/** Writes to API keys. Runs in the writer's thread; each method inside a transaction of its own. */

import { randomBytes } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type ApiKey, formatApiKey, hashApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound, grantExceedsOwn, unknownSeats } from '../../model/refusal.ts'
import { mayManageKey } from '../../model/scope.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { crockford, ulid } from '../../model/ulid.ts'
import type { ApiKeyInput, Writer, Written } from '../store.ts'
import type { ChangeLog } from './change-log.ts'
import { SEAT_COLUMNS, storedSeat } from './rows.ts'

/** 5 bits of each become a character: 130 random bits. */
const RANDOM_BYTES = 26

export class ApiKeyWriter {
  readonly #log: ChangeLog
  readonly #seatByName: StatementSync
  readonly #seatsOf: StatementSync
  readonly #find: StatementSync
  readonly #insert: StatementSync
  readonly #addSeat: StatementSync
  readonly #revoke: StatementSync

  constructor(database: DatabaseSync, log: ChangeLog) {
    this.#log = log
    this.#seatByName = database.prepare(
      `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = ? AND s.name = ?`,
    )
    this.#seatsOf = database.prepare(
      `SELECT ${SEAT_COLUMNS} FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
       WHERE ks.tenant = ? AND ks.api_key_id = ?`,
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
    const found = input.seats.map((seat) => this.#seat(tenant, seat))
    const seats = found.filter((seat) => seat !== null)
    if (seats.length < found.length)
      return unknownSeats(found.flatMap((seat, at) => (seat === null ? [at] : [])))
    if (!mayManageKey(scope, seats)) return grantExceedsOwn
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
    const seats = this.#seatsOf.all(tenant, id).map(storedSeat)
    if (!mayManageKey(scope, seats)) return grantExceedsOwn
    this.#revoke.run(now, tenant, id)
    return { ...this.#log.append([{ tenant, kind: 'api-key', key: id }]), value: null }
  }

  #seat(tenant: string, name: string): StoredSeat | null {
    const row = this.#seatByName.get(tenant, name)
    return row === undefined ? null : storedSeat(row)
  }
}
