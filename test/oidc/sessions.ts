/** The sessions of the embedded store, on a database in memory and without its threads. */

import { DatabaseSync } from 'node:sqlite'
import {
  auditEntry,
  type AuditEntry,
  type SessionStore,
  type StoredSession,
} from '../../seats-admin/index.ts'
import { SESSION_COLUMNS, storedSession } from '../../seats-admin/store/session-rows.ts'
import { ChangeLog } from '../../seats-admin/store/sqlite/change-log.ts'
import { mark, migrate } from '../../seats-admin/store/sqlite/migrations.ts'
import { readerOperations } from '../../seats-admin/store/sqlite/reader.ts'
import { sessionWrites } from '../../seats-admin/store/sqlite/session-writer.ts'

export interface SessionTable extends SessionStore {
  /** All entries of the audit, in order. */
  audit(): AuditEntry[]
  /** The error that every method rejects with; null: methods succeed. */
  fault: Error | null
  /** All rows, in the order of their creation. */
  rows(): StoredSession[]
  /** The number of recorded logouts and logout tokens. */
  logouts(): number
}

export function openSessions(): SessionTable {
  const database = new DatabaseSync(':memory:')
  mark(database)
  migrate(database)
  const operations = {
    ...readerOperations(database, null),
    ...sessionWrites(database, new ChangeLog(database)),
  }
  const calls = Object.entries<(...given: never[]) => unknown>(operations).map(([name, call]) => [
    name,
    async (...given: never[]) => {
      if (table.fault !== null) throw table.fault
      return call(...given)
    },
  ])
  const table: SessionTable = Object.assign(Object.fromEntries(calls) as unknown as SessionStore, {
    fault: null,
    rows: () =>
      database.prepare(`SELECT ${SESSION_COLUMNS} FROM sessions ORDER BY rowid`).all().map(storedSession),
    audit: () => database.prepare('SELECT * FROM audit ORDER BY id').all().map(auditEntry),
    logouts: () => database.prepare('SELECT * FROM provider_logouts').all().length,
  })
  return table
}
