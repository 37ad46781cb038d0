/** Records the Seats of each user's latest sign-in. Runs in the writer's thread, inside a transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { text } from '../rows.ts'

export class MemberWriter {
  readonly #of: StatementSync
  readonly #add: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    this.#of = database.prepare('SELECT seat_id FROM members WHERE tenant = ? AND user = ?')
    // Selects from the Seats, so that a Seat deleted since the sign-in started is ignored.
    this.#add = database.prepare(
      'INSERT INTO members (tenant, user, seat_id) SELECT tenant, ?2, id FROM seats WHERE tenant = ?1 AND id = ?3',
    )
    this.#remove = database.prepare('DELETE FROM members WHERE tenant = ? AND user = ? AND seat_id = ?')
  }

  /** Writes only differences: an unchanged sign-in costs no disk write. */
  record(tenant: string, user: string, seatIds: readonly string[]): void {
    const before = new Set(this.#of.all(tenant, user).map((row) => text(row, 'seat_id')))
    const after = new Set(seatIds)
    for (const id of before.difference(after)) this.#remove.run(tenant, user, id)
    for (const id of after.difference(before)) this.#add.run(tenant, user, id)
  }
}
