/** The sessions of the embedded store, on a database in memory and without its threads. */

import { DatabaseSync } from 'node:sqlite'
import { monotonic } from '../../seats-admin/store/monotonic.ts'
import {
  auditEntry,
  type AuditEntry,
  type SessionStore,
  type StoredSession,
} from '../../seats-admin/index.ts'
import { SESSION_COLUMNS, storedSession } from '../../seats-admin/store/session-rows.ts'
import { methodsOn } from '../../seats-admin/store/sqlite/sqlite-database.ts'
import { mark, migrate } from '../../seats-admin/store/sqlite/sqlite-migrations.ts'

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
  let idle: Promise<unknown> = Promise.resolve()
  const call = { elapsed: () => 0, deadline: () => monotonic() + 60_000, throwIfExpired() {} }
  const { sessions } = methodsOn(database, call, null)
  const calls = Object.entries<(...given: never[]) => unknown>({ ...sessions }).map(([name, method]) => [
    name,
    async (...given: never[]) => {
      if (table.fault !== null) throw table.fault
      // As in a thread of the store, one call after the other.
      const result = idle.then(() => method(...given))
      idle = result.then(
        () => {},
        () => {},
      )
      return result
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
