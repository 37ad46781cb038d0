/** The counter row and the change feed. Runs in the writer's thread, inside its transactions. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Change, Committed } from '../../model/change.ts'
import { nextUlidTime } from '../../model/ulid.ts'
import { integer } from './rows.ts'

/** A reader that is further behind forgets everything instead. */
const KEPT = 10_000

export class ChangeLog {
  readonly #counter: StatementSync
  readonly #setSeq: StatementSync
  readonly #setIdTime: StatementSync
  readonly #add: StatementSync
  readonly #prune: StatementSync

  constructor(database: DatabaseSync) {
    this.#counter = database.prepare('SELECT seq, id_time FROM counter')
    this.#setSeq = database.prepare('UPDATE counter SET seq = ?')
    this.#setIdTime = database.prepare('UPDATE counter SET id_time = ?')
    this.#add = database.prepare('INSERT INTO changes (seq, tenant, kind, key) VALUES (?, ?, ?, ?)')
    this.#prune = database.prepare('DELETE FROM changes WHERE seq <= ?')
  }

  /**
   * Numbers the changes of this write, one by one. The counter row is locked until the commit, so a smaller number is
   * never committed after a larger one.
   */
  append(changes: readonly Change[]): Committed {
    let seq = this.#read('seq')
    for (const { tenant, kind, key } of changes) this.#add.run(++seq, tenant, kind, key)
    this.#setSeq.run(seq)
    this.#prune.run(seq - KEPT)
    return { seq, changes }
  }

  /** The time part for the id of what is made in this transaction. */
  idTime(now: number): number {
    const time = nextUlidTime(now, this.#read('id_time'))
    this.#setIdTime.run(time)
    return time
  }

  #read(column: 'seq' | 'id_time'): number {
    const row = this.#counter.get()
    if (row === undefined) throw new Error('the store has no counter')
    return integer(row, column)
  }
}
