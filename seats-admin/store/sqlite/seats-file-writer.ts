/** Changes many Seats in one transaction. Runs in the writer's thread. */

import type { DatabaseSync } from 'node:sqlite'
import type { Change } from '../../model/change.ts'
import { isRefusal, lastAdministrator } from '../../model/refusal.ts'
import { seatEvent } from '../audit-forms.ts'
import { text } from '../rows.ts'
import { otherAdministratorValues, seatQueries, seatValues } from '../seat-queries.ts'
import { changesOf, deletionChanges, givenUpAt } from '../seat-rules.ts'
import {
  appliedSeats,
  changedSeats,
  dueChanges,
  mayEndAdministration,
  nameGivenUp,
  type SeatWrite,
  seatWritesDue,
} from '../seats-file.ts'
import { idsOf } from '../seats-file-queries.ts'
import type { AdminStore, Writer } from '../store.ts'
import type { RunningCall, Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'
import { keyAdministration } from './key-administration.ts'
import { prepareSeatsFile, readSeats } from './seats-file-reader.ts'
import { DELETE_SEAT, GIVE_UP } from './seat-writer.ts'

const { insert, update, administrator } = seatQueries(sqlite)
const QUERIES = { insert, update, administrator, delete: DELETE_SEAT, giveUp: GIVE_UP }

export function seatsFileWrites(
  database: DatabaseSync,
  log: ChangeLog,
  running: RunningCall,
): Synchronous<Pick<AdminStore, 'applySeats'>> {
  const statements = prepareAll(database, QUERIES)
  const reads = prepareSeatsFile(database)
  const administration = keyAdministration(database)
  return {
    applySeats(writer, wanted, versions) {
      const reading = readSeats(reads, writer.tenant, writer.scope, wanted)
      if (isRefusal(reading)) return reading
      const due = dueChanges(wanted, reading)
      if (isRefusal(due)) return due
      const writes = seatWritesDue(writer, due, versions, () => log.idTime(writer.now))
      if (isRefusal(writes)) return writes
      if (writes.length === 0) return appliedSeats(writes, due, null)
      const changes = changesAfter(writer, writes)
      for (const write of writes) {
        running.throwIfExpired()
        perform(writer, write)
      }
      if (mayEndAdministration(writer, writes) && !isAdministrated(writer)) return lastAdministrator
      const events = writes.map(({ action, before, after }) => seatEvent(`seat.${action}`, before, after))
      const committed = log.record(writer, events, changes)
      return appliedSeats(writes, due, { ...committed, ...administration(writer, changedSeats(writes)) })
    },
  }

  function perform(writer: Writer, write: SeatWrite): void {
    const { tenant } = writer
    const { before, after } = write
    if (after === null) statements.delete.run(tenant, before?.id ?? '')
    else if (before === null) statements.insert.run(seatValues(writer, after))
    else statements.update.run(seatValues(writer, after))
    const name = nameGivenUp(write)
    if (name === null) return
    const now = Math.floor(Date.now() / 1000)
    statements.giveUp.run(tenant, name, Math.max(now, givenUpAt(writer, running.elapsed())))
  }

  /** Read before the deletions, which take the Seats from the keys. */
  function changesAfter({ tenant }: Writer, writes: readonly SeatWrite[]): Change[] {
    const deleted = writes.filter(({ after }) => after === null)
    const keys = Map.groupBy(reads.keysOf.all({ tenant, ids: idsOf(deleted) }), (row) => text(row, 'seat_id'))
    return writes.flatMap((write) => {
      const { before, after } = write
      if (after !== null) return changesOf(after, nameGivenUp(write))
      if (before === null) return []
      return deletionChanges(
        before,
        (keys.get(before.id) ?? []).map((row) => text(row, 'api_key_id')),
      )
    })
  }

  function isAdministrated({ tenant, scope }: Writer): boolean {
    return statements.administrator.get(otherAdministratorValues(tenant, '', scope)) !== undefined
  }
}
