/** Writes to Seats. Runs in the writer's thread; each method in its own transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type AdminRefusal, grantExceedsOwn, isRefusal, lastAdministrator } from '../../model/refusal.ts'
import { mayManage } from '../../model/scope.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { seatById, visibilityOf } from '../pages.ts'
import { storedSeat, text } from '../rows.ts'
import { otherAdministratorValues, nameTaken, writeQueries } from '../seat-queries.ts'
import {
  changesOf,
  deletionChanges,
  endsAdministration,
  givenUpAt,
  largerThanAllowed,
  newSeat,
  planDeletion,
  planUpdate,
} from '../seat-rules.ts'
import type { SeatInput, Writer, Written } from '../store.ts'
import type { RunningCall } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { sqlite } from './dialect.ts'

const queries = writeQueries(sqlite)

export class SeatWriter {
  readonly #log: ChangeLog
  readonly #running: RunningCall
  readonly #byId: StatementSync
  readonly #byName: StatementSync
  readonly #administrator: StatementSync
  readonly #insert: StatementSync
  readonly #update: StatementSync
  readonly #delete: StatementSync
  readonly #giveUp: StatementSync
  readonly #keysOf: StatementSync

  constructor(database: DatabaseSync, log: ChangeLog, running: RunningCall) {
    this.#log = log
    this.#running = running
    this.#byId = database.prepare(seatById(sqlite))
    this.#byName = database.prepare(queries.name)
    this.#administrator = database.prepare(queries.administrator)
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
    const taken = this.#taken(writer, name)
    if (taken !== null) return taken
    const seat = newSeat(writer, this.#log.idTime(now), input)
    this.#insert.run(tenant, seat.id, name, JSON.stringify(spaces), JSON.stringify(permissions), by, now)
    return { ...this.#log.append(changesOf(seat)), value: seat }
  }

  update(writer: Writer, id: string, patch: Partial<SeatInput>): Written<StoredSeat> | AdminRefusal {
    const { tenant, by, now } = writer
    const plan = planUpdate(writer, this.#find(writer, id), patch)
    if (isRefusal(plan)) return plan
    const { after, givenUp, changes } = plan
    const { name, spaces, permissions } = after
    const taken = givenUp === null ? null : this.#taken(writer, name)
    if (taken !== null) return taken
    if (plan.endsAdministration && this.#isLast(writer, id)) return lastAdministrator
    this.#update.run(name, JSON.stringify(spaces), JSON.stringify(permissions), by, now, tenant, id)
    if (givenUp !== null) this.#markGivenUp(writer, givenUp)
    return { ...this.#log.append(changes), value: after }
  }

  /** Members and assignments to API keys are deleted by cascade. */
  delete(writer: Writer, id: string): Written<null> | AdminRefusal {
    const { tenant } = writer
    const seat = planDeletion(writer, this.#find(writer, id))
    if (isRefusal(seat)) return seat
    if (endsAdministration(writer, seat, null) && this.#isLast(writer, id)) return lastAdministrator
    const keys = this.#keysOf.all(tenant, id).map((row) => text(row, 'api_key_id'))
    this.#delete.run(tenant, id)
    this.#markGivenUp(writer, seat.name)
    return { ...this.#log.append(deletionChanges(seat, keys)), value: null }
  }

  #find({ tenant, scope }: Writer, id: string): StoredSeat | null {
    const row = this.#byId.get({ tenant, id, ...visibilityOf(scope) })
    return row === undefined ? null : storedSeat(row)
  }

  #taken({ tenant, scope }: Writer, name: string): AdminRefusal | null {
    return nameTaken(this.#byName.get({ tenant, name, ...visibilityOf(scope) }))
  }

  /** Whether no other Seat administrates the tenant. */
  #isLast({ tenant, scope }: Writer, id: string): boolean {
    return this.#administrator.get(otherAdministratorValues(tenant, id, scope)) === undefined
  }

  #markGivenUp(writer: Writer, name: string): void {
    const now = Math.floor(Date.now() / 1000)
    this.#giveUp.run(writer.tenant, name, Math.max(now, givenUpAt(writer, this.#running.elapsed())))
  }
}
