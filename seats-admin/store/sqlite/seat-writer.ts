/** Writes to Seats. Run in the writer's thread, each in its own transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { type AdminRefusal, isRefusal, lastAdministrator } from '../../model/refusal.ts'
import type { StoredSeat } from '../../model/seat.ts'
import { seatEvent } from '../audit-forms.ts'
import { visibilityOf } from '../pages.ts'
import { storedSeat, text } from '../rows.ts'
import { nameTaken, otherAdministratorValues, seatQueries, seatValues } from '../seat-queries.ts'
import {
  changesOf,
  deletionChanges,
  endsAdministration,
  givenUpAt,
  newSeat,
  planDeletion,
  planUpdate,
  refuseNewSeat,
} from '../seat-rules.ts'
import type { AdminStore, Writer } from '../store.ts'
import type { RunningCall, Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'
import { keyAdministration } from './key-administration.ts'

/** Members and assignments to API keys are deleted by cascade. */
export const DELETE_SEAT = 'DELETE FROM seats WHERE tenant = ? AND id = ?'
export const GIVE_UP = `INSERT INTO names_given_up (tenant, name, at) VALUES (?, ?, ?)
  ON CONFLICT (tenant, name) DO UPDATE SET at = max(at, excluded.at)`

const QUERIES = {
  ...seatQueries(sqlite),
  delete: DELETE_SEAT,
  giveUp: GIVE_UP,
  keysOf: 'SELECT api_key_id FROM api_key_seats WHERE tenant = ? AND seat_id = ? ORDER BY api_key_id',
}

export function seatWrites(
  database: DatabaseSync,
  log: ChangeLog,
  running: RunningCall,
): Synchronous<Pick<AdminStore, 'createSeat' | 'updateSeat' | 'deleteSeat'>> {
  const statements = prepareAll(database, QUERIES)
  const administration = keyAdministration(database)
  return {
    createSeat(writer, input) {
      const refusal = refuseNewSeat(writer, input) ?? taken(writer, input.name)
      if (refusal !== null) return refusal
      const seat = newSeat(writer, log.idTime(writer.now), input)
      statements.insert.run(seatValues(writer, seat))
      const event = seatEvent('seat.create', null, seat)
      return { ...log.record(writer, [event], changesOf(seat)), ...administration(writer), value: seat }
    },

    updateSeat(writer, id, patch) {
      const plan = planUpdate(writer, find(writer, id), patch)
      if (isRefusal(plan)) return plan
      const { before, after, givenUp, changes } = plan
      const refusal = givenUp === null ? null : taken(writer, after.name)
      if (refusal !== null) return refusal
      if (plan.endsAdministration && isLast(writer, id)) return lastAdministrator
      statements.update.run(seatValues(writer, after))
      if (givenUp !== null) markGivenUp(writer, givenUp)
      const committed = log.record(writer, [seatEvent('seat.update', before, after)], changes)
      return { ...committed, ...administration(writer, [id]), value: after }
    },

    deleteSeat(writer, id) {
      const { tenant } = writer
      const seat = planDeletion(writer, find(writer, id))
      if (isRefusal(seat)) return seat
      if (endsAdministration(writer, seat, null) && isLast(writer, id)) return lastAdministrator
      const keys = statements.keysOf.all(tenant, id).map((row) => text(row, 'api_key_id'))
      statements.delete.run(tenant, id)
      markGivenUp(writer, seat.name)
      const event = seatEvent('seat.delete', seat, null)
      return { ...log.record(writer, [event], deletionChanges(seat, keys)), value: null }
    },
  }

  function find({ tenant, scope }: Writer, id: string): StoredSeat | null {
    const row = statements.byId.get({ tenant, id, ...visibilityOf(scope) })
    return row === undefined ? null : storedSeat(row)
  }

  function taken({ tenant, scope }: Writer, name: string): AdminRefusal | null {
    return nameTaken(statements.byName.get({ tenant, name, ...visibilityOf(scope) }))
  }

  /** Whether no other Seat administrates the tenant. */
  function isLast({ tenant, scope }: Writer, id: string): boolean {
    return statements.administrator.get(otherAdministratorValues(tenant, id, scope)) === undefined
  }

  function markGivenUp(writer: Writer, name: string): void {
    const now = Math.floor(Date.now() / 1000)
    statements.giveUp.run(writer.tenant, name, Math.max(now, givenUpAt(writer, running.elapsed())))
  }
}
