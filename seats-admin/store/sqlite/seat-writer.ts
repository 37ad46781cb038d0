/** Writes to Seats. Runs in the writer's thread; each method inside a transaction of its own. */

import { randomBytes } from 'node:crypto'
import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Change } from '../../model/change.ts'
import { type AdminRefusal, grantExceedsOwn, seatNameTaken, seatNotFound } from '../../model/refusal.ts'
import { mayManage } from '../../model/scope.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { ulid } from '../../model/ulid.ts'
import type { SeatInput, Writer, Written } from '../store.ts'
import type { Running } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { SEAT_COLUMNS, storedSeat, text } from './rows.ts'

export class SeatWriter {
  readonly #log: ChangeLog
  readonly #running: Running
  readonly #byId: StatementSync
  readonly #byName: StatementSync
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  readonly #giveUp: StatementSync
  readonly #keysOf: StatementSync

  constructor(database: DatabaseSync, log: ChangeLog, running: Running) {
    this.#log = log
    this.#running = running
    this.#byId = database.prepare(`SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = ? AND s.id = ?`)
    this.#byName = database.prepare('SELECT id FROM seats WHERE tenant = ? AND name = ?')
    this.#insert = database.prepare(
      `INSERT INTO seats (tenant, id, name, spaces, permissions, created_by, created_at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
    )
    this.#update = database.prepare(
      `UPDATE seats SET name = ?, spaces = ?, permissions = ?, updated_by = ?, updated_at = ? WHERE tenant = ? AND id = ?`,
    )
    this.#delete = database.prepare('DELETE FROM seats WHERE tenant = ? AND id = ?')
    this.#giveUp = database.prepare(
      `INSERT INTO names_given_up (tenant, name, at) VALUES (?, ?, ?)
       ON CONFLICT (tenant, name) DO UPDATE SET at = max(at, excluded.at)`,
    )
    this.#keysOf = database.prepare(
      'SELECT api_key_id FROM api_key_seats WHERE tenant = ? AND seat_id = ? ORDER BY api_key_id',
    )
  }

  create(writer: Writer, input: SeatInput): Written<StoredSeat> | AdminRefusal {
    const { tenant, by, scope, now } = writer
    const { name, spaces, permissions } = input
    if (!mayManage(scope, input)) return grantExceedsOwn
    if (this.#byName.get(tenant, name) !== undefined) return seatNameTaken
    const id = ulid(this.#log.idTime(now), randomBytes(16))
    this.#insert.run(tenant, id, name, JSON.stringify(spaces), JSON.stringify(permissions), by, now)
    const committed = this.#log.append([seatChange(tenant, id), nameChange(tenant, name)])
    const times = { createdBy: by, createdAt: now, updatedBy: null, updatedAt: null }
    return { ...committed, value: { id, tenant, name, spaces, permissions, ...times } }
  }

  update(writer: Writer, id: string, patch: Partial<SeatInput>): Written<StoredSeat> | AdminRefusal {
    const { tenant, by, scope, now } = writer
    const before = this.#find(tenant, id)
    if (before === null) return seatNotFound
    const after: StoredSeat = { ...before, ...patch, updatedBy: by, updatedAt: now }
    if (!mayManage(scope, before) || !mayManage(scope, after)) return grantExceedsOwn
    const renamed = after.name !== before.name
    if (renamed && this.#byName.get(tenant, after.name) !== undefined) return seatNameTaken
    const { name, spaces, permissions } = after
    this.#update.run(name, JSON.stringify(spaces), JSON.stringify(permissions), by, now, tenant, id)
    const changes = [seatChange(tenant, id), nameChange(tenant, name)]
    if (renamed) changes.push(this.#nameGivenUp(writer, before.name))
    return { ...this.#log.append(changes), value: after }
  }

  /** Its members, and its part in API keys, go with it. */
  delete(writer: Writer, id: string): Written<null> | AdminRefusal {
    const { tenant, scope } = writer
    const seat = this.#find(tenant, id)
    if (seat === null) return seatNotFound
    if (!mayManage(scope, seat)) return grantExceedsOwn
    const keys = this.#keysOf.all(tenant, id).map((row) => text(row, 'api_key_id'))
    this.#delete.run(tenant, id)
    const changes = [seatChange(tenant, id), this.#nameGivenUp(writer, seat.name)]
    for (const key of keys) changes.push({ tenant, kind: 'api-key', key })
    return { ...this.#log.append(changes), value: null }
  }

  #find(tenant: string, id: string): StoredSeat | null {
    const row = this.#byId.get(tenant, id)
    return row === undefined ? null : storedSeat(row)
  }

  /**
   * Marked for good, so that a token issued before gains nothing through a later Seat of this name. While the call
   * waited for its turn the old Seat still stood: a token issued meanwhile is one from before, too.
   */
  #nameGivenUp({ tenant, now }: Writer, name: string): Change {
    this.#giveUp.run(tenant, name, Math.floor((now + this.#running.waited()) / 1000))
    return nameChange(tenant, name)
  }
}

function seatChange(tenant: string, id: string): Change {
  return { tenant, kind: 'seat', key: id }
}

function nameChange(tenant: string, name: string): Change {
  return { tenant, kind: 'seat-name', key: name }
}
