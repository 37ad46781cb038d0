/** The counter row and the change feed. Runs in the writer's thread, inside its transactions. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Change, Committed } from '../../model/change.ts'
import { nextUlidTime } from '../../model/ulid.ts'
import { drawMark, MAX_RETAINED } from '../feed.ts'
import { counted } from '../point-reads.ts'
import { integer } from '../rows.ts'
import { prepareAll } from './connection.ts'

const QUERIES = {
  counter: 'SELECT seq, id_time FROM counter',
  setHead: 'UPDATE counter SET seq = ?, mark = ?',
  setIdTime: 'UPDATE counter SET id_time = ?',
  add: 'INSERT INTO changes (seq, mark, tenant, kind, key) VALUES (?, ?, ?, ?, ?)',
  prune: 'DELETE FROM changes WHERE seq <= ?',
}

export class ChangeLog {
  readonly #statements: Readonly<Record<keyof typeof QUERIES, StatementSync>>

  constructor(database: DatabaseSync) {
    this.#statements = prepareAll(database, QUERIES)
  }

  /**
   * Numbers and marks the changes of a write. The counter row is locked until the commit, so numbers are committed in
   * order.
   */
  append(changes: readonly Change[]): Committed {
    const mark = drawMark()
    let seq = this.#read('seq')
    for (const { tenant, kind, key } of changes) this.#statements.add.run(++seq, mark, tenant, kind, key)
    this.#statements.setHead.run(seq, mark)
    this.#statements.prune.run(seq - MAX_RETAINED)
    return { seq, mark, changes }
  }

  /** The time part of the next id. */
  idTime(now: number): number {
    const time = nextUlidTime(now, this.#read('id_time'))
    this.#statements.setIdTime.run(time)
    return time
  }

  #read(column: 'seq' | 'id_time'): number {
    return integer(counted(this.#statements.counter.get()), column)
  }
}
