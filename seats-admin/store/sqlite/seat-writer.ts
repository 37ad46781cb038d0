/** Writes to Seats. Runs in the writer's thread; each method inside a transaction of its own. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type AdminRefusal, grantExceedsOwn, isRefusal, seatNameTaken } from '../../model/refusal.ts'
import { mayManage } from '../../model/scope.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { SEAT_BY_ID } from '../pages.ts'
import { storedSeat, text } from '../rows.ts'
import {
  changesOf,
  deletionChanges,
  givenUpAt,
  largerThanAllowed,
  newSeat,
  planDeletion,
  planUpdate,
} from '../seat-rules.ts'
import type { SeatInput, Writer, Written } from '../store.ts'
import type { Running } from './calls.ts'
import type { ChangeLog } from './change-log.ts'

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
    this.#byId = database.prepare(SEAT_BY_ID)
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
    const tooLarge = largerThanAllowed(writer, input)
    if (tooLarge !== null) return tooLarge
    if (this.#isTaken(tenant, name)) return seatNameTaken
    const seat = newSeat(writer, this.#log.idTime(now), input)
    this.#insert.run(tenant, seat.id, name, JSON.stringify(spaces), JSON.stringify(permissions), by, now)
    return { ...this.#log.append(changesOf(seat)), value: seat }
  }

  update(writer: Writer, id: string, patch: Partial<SeatInput>): Written<StoredSeat> | AdminRefusal {
    const { tenant, by, now } = writer
    const plan = planUpdate(writer, this.#find(tenant, id), patch)
    if (isRefusal(plan)) return plan
    const { after, givenUp, changes } = plan
    const { name, spaces, permissions } = after
    if (givenUp !== null && this.#isTaken(tenant, name)) return seatNameTaken
    this.#update.run(name, JSON.stringify(spaces), JSON.stringify(permissions), by, now, tenant, id)
    if (givenUp !== null) this.#markGivenUp(writer, givenUp)
    return { ...this.#log.append(changes), value: after }
  }

  /** Its members, and its part in API keys, go with it. */
  delete(writer: Writer, id: string): Written<null> | AdminRefusal {
    const { tenant } = writer
    const seat = planDeletion(writer, this.#find(tenant, id))
    if (isRefusal(seat)) return seat
    const keys = this.#keysOf.all(tenant, id).map((row) => text(row, 'api_key_id'))
    this.#delete.run(tenant, id)
    this.#markGivenUp(writer, seat.name)
    return { ...this.#log.append(deletionChanges(seat, keys)), value: null }
  }

  #find(tenant: string, id: string): StoredSeat | null {
    const row = this.#byId.get({ tenant, id })
    return row === undefined ? null : storedSeat(row)
  }

  #isTaken(tenant: string, name: string): boolean {
    return this.#byName.get(tenant, name) !== undefined
  }

  #markGivenUp(writer: Writer, name: string): void {
    this.#giveUp.run(writer.tenant, name, givenUpAt(writer, this.#running.waited()))
  }
}
