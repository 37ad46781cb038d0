/** Which Seats each user's latest sign-in carried. Runs in the writer's thread, inside a transaction. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { text } from '../rows.ts'

export class MemberWriter {
  readonly #of: StatementSync
  readonly #add: StatementSync
  readonly #remove: StatementSync

  constructor(database: DatabaseSync) {
    this.#of = database.prepare('SELECT seat_id FROM members WHERE tenant = ? AND user = ?')
    // From the Seats, so that one deleted since the sign-in began adds nothing.
    this.#add = database.prepare(
      'INSERT INTO members (tenant, user, seat_id) SELECT tenant, ?2, id FROM seats WHERE tenant = ?1 AND id = ?3',
    )
    this.#remove = database.prepare('DELETE FROM members WHERE tenant = ? AND user = ? AND seat_id = ?')
  }

  /** Writes only what differs: a sign-in like the last one costs no wait for the disk. */
  record(tenant: string, user: string, seatIds: readonly string[]): void {
    const before = new Set(this.#of.all(tenant, user).map((row) => text(row, 'seat_id')))
    const after = new Set(seatIds)
    for (const id of before.difference(after)) this.#remove.run(tenant, user, id)
    for (const id of after.difference(before)) this.#add.run(tenant, user, id)
  }
}
