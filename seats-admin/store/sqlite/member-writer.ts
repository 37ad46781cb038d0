/** Records the Seats of each user's latest sign-in. Runs in the writer's thread, inside a transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { text } from '../rows.ts'
import type { AdminStore } from '../store.ts'
import type { Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'

const QUERIES = {
  of: 'SELECT seat_id FROM members WHERE tenant = ? AND user = ?',
  // Selects from the Seats, so that a Seat deleted since the sign-in started is ignored.
  add: 'INSERT INTO members (tenant, user, seat_id) SELECT tenant, ?2, id FROM seats WHERE tenant = ?1 AND id = ?3',
  remove: 'DELETE FROM members WHERE tenant = ? AND user = ? AND seat_id = ?',
}

/** Writes only differences: an unchanged sign-in costs no disk write. */
export function memberWrites(database: DatabaseSync): Synchronous<Pick<AdminStore, 'recordMember'>> {
  const statements = prepareAll(database, QUERIES)
  return {
    recordMember(tenant, user, seatIds) {
      const before = new Set(statements.of.all(tenant, user).map((row) => text(row, 'seat_id')))
      const after = new Set(seatIds)
      for (const id of before.difference(after)) statements.remove.run(tenant, user, id)
      for (const id of after.difference(before)) statements.add.run(tenant, user, id)
    },
  }
}
