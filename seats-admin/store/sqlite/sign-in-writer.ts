/** Records sign-ins: the user, and the Seats in place of earlier ones. Runs in the writer's thread, inside a transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { isStorableSub } from '../../model/user.ts'
import { text } from '../rows.ts'
import { insertUser, signInValues } from '../sign-ins.ts'
import type { AdminStore } from '../store.ts'
import type { Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'

const QUERIES = {
  signIn: insertUser('VALUES (:tenant, :sub, :email, :name, :at)'),
  of: 'SELECT seat_id FROM members WHERE tenant = ? AND user = ?',
  // Selects from the Seats, so that a Seat deleted since the sign-in started is ignored.
  add: 'INSERT INTO members (tenant, user, seat_id) SELECT tenant, ?2, id FROM seats WHERE tenant = ?1 AND id = ?3',
  remove: 'DELETE FROM members WHERE tenant = ? AND user = ? AND seat_id = ?',
}

export function signInWrites(database: DatabaseSync): Synchronous<Pick<AdminStore, 'recordSignIn'>> {
  const statements = prepareAll(database, QUERIES)
  return {
    recordSignIn(tenant, user, seatIds) {
      const { sub } = user
      if (isStorableSub(sub)) statements.signIn.run(signInValues(tenant, user))
      const before = new Set(statements.of.all(tenant, sub).map((row) => text(row, 'seat_id')))
      const after = new Set(seatIds)
      for (const id of before.difference(after)) statements.remove.run(tenant, sub, id)
      for (const id of after.difference(before)) statements.add.run(tenant, sub, id)
    },
  }
}
