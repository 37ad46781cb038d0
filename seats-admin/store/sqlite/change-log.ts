/** The counter row, the change feed and the audit. Runs in the writer's thread, inside its transactions. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { Change, Committed } from '../../model/change.ts'
import { nextUlidTime } from '../../model/ulid.ts'
import { drawMark, MAX_RETAINED } from '../feed.ts'
import { counted } from '../point-reads.ts'
import type { AuditEvent } from '../audit-rows.ts'
import { integer } from '../rows.ts'
import type { Writer } from '../store.ts'
import { AuditLog } from './audit-log.ts'
import { prepareAll } from './connection.ts'

const QUERIES = {
  counter: 'SELECT seq, id_time FROM counter',
  setHead: 'UPDATE counter SET seq = ?, mark = ?, id_time = ?',
  setIdTime: 'UPDATE counter SET id_time = ?',
  add: 'INSERT INTO changes (seq, mark, tenant, kind, key, audited) VALUES (?, ?, ?, ?, ?, ?)',
  prune: 'DELETE FROM changes WHERE seq <= ?',
}

interface Counter {
  readonly seq: number
  /** The time part of the newest id. */
  idTime: number
}

export class ChangeLog {
  readonly #statements: Readonly<Record<keyof typeof QUERIES, StatementSync>>
  readonly #audit: AuditLog

  constructor(database: DatabaseSync) {
    this.#audit = new AuditLog(database)
    this.#statements = prepareAll(database, QUERIES)
  }

  /**
   * Numbers and marks the changes of a write. The counter row is locked until the commit, so numbers are committed in
   * order.
   */
  append(changes: readonly Change[]): Committed {
    return this.#append(changes, this.#counter(), false)
  }

  /** Of a write that the audit records: appends the events as entries, then the changes. */
  record(writer: Writer, events: readonly AuditEvent[], changes: readonly Change[]): Committed {
    const counter = this.#counter()
    this.#audit.append(writer, events, () => (counter.idTime = nextUlidTime(writer.now, counter.idTime)))
    return this.#append(changes, counter, true)
  }

  /** The time part of the next id. */
  idTime(now: number): number {
    const time = nextUlidTime(now, this.#counter().idTime)
    this.#statements.setIdTime.run(time)
    return time
  }

  #append(changes: readonly Change[], { seq: before, idTime }: Counter, audited: boolean): Committed {
    const mark = drawMark()
    let seq = before
    for (const { tenant, kind, key } of changes)
      this.#statements.add.run(++seq, mark, tenant, kind, key, Number(audited))
    this.#statements.setHead.run(seq, mark, idTime)
    this.#statements.prune.run(seq - MAX_RETAINED)
    return { seq, mark, changes }
  }

  #counter(): Counter {
    const row = counted(this.#statements.counter.get())
    return { seq: integer(row, 'seq'), idTime: integer(row, 'id_time') }
  }
}
