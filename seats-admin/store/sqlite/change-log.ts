/** The counter row and the change feed. Runs in the writer's thread, inside its transactions. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Change, Committed } from '../../model/change.ts'
import { nextUlidTime } from '../../model/ulid.ts'
import { drawMark, MAX_RETAINED } from '../feed.ts'
import { counted } from '../point-reads.ts'
import { integer } from '../rows.ts'

export class ChangeLog {
  readonly #counter: StatementSync
  readonly #setHead: StatementSync
  readonly #setIdTime: StatementSync
  readonly #add: StatementSync
  readonly #prune: StatementSync

  constructor(database: DatabaseSync) {
    this.#counter = database.prepare('SELECT seq, id_time FROM counter')
    this.#setHead = database.prepare('UPDATE counter SET seq = ?, mark = ?')
    this.#setIdTime = database.prepare('UPDATE counter SET id_time = ?')
    this.#add = database.prepare('INSERT INTO changes (seq, mark, tenant, kind, key) VALUES (?, ?, ?, ?, ?)')
    this.#prune = database.prepare('DELETE FROM changes WHERE seq <= ?')
  }

  /**
   * Numbers and marks the changes of a write. The counter row is locked until the commit, so numbers are committed in
   * order.
   */
  append(changes: readonly Change[]): Committed {
    const mark = drawMark()
    let seq = this.#read('seq')
    for (const { tenant, kind, key } of changes) this.#add.run(++seq, mark, tenant, kind, key)
    this.#setHead.run(seq, mark)
    this.#prune.run(seq - MAX_RETAINED)
    return { seq, mark, changes }
  }

  /** The time part of the next id. */
  idTime(now: number): number {
    const time = nextUlidTime(now, this.#read('id_time'))
    this.#setIdTime.run(time)
    return time
  }

  #read(column: 'seq' | 'id_time'): number {
    return integer(counted(this.#counter.get()), column)
  }
}
