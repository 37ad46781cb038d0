/** Reads of the audit, in the lister's thread, and its retention, in the writer's. */

import type { DatabaseSync } from 'node:sqlite'
import { auditEntry } from '../audit-rows.ts'
import { chainPage, chainQuery, chainReading, listQuery, listValues } from '../audit-queries.ts'
import type { AuditStore } from '../audit-store.ts'
import { PAGE_TEXT } from '../pages.ts'
import { integer, type Row, text } from '../rows.ts'
import type { RunningCall, Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'

/** Renamed, because all methods of a thread share one space of names. */
export type AuditReads = {
  readonly listAudit: Synchronous<AuditStore>['list']
  readonly auditChain: Synchronous<AuditStore>['chain']
}

export function auditReads(database: DatabaseSync, running: RunningCall): AuditReads {
  const { chain } = prepareAll(database, { chain: chainQuery(chainPage) })
  // An entry that was tampered with may have an integer that no number has: reading it must not fail.
  chain.setReadBigInts(true)
  return {
    listAudit(tenant, page) {
      const rows = database.prepare(listQuery(page)).iterate(listValues(tenant, page))
      const { data, hasMore } = cut(rows, page.limit)
      return { data: data.map(auditEntry), hasMore }
    },
    auditChain: (tenant, after, limit) =>
      chainReading(
        cut(chain.iterate({ tenant, after, limit }), Number.POSITIVE_INFINITY).data.map(withNumbers),
      ),
  }

  /** Reads one row at a time: bounds the memory of a page of large entries, and stops when the caller has given up. */
  function cut(rows: Iterable<Row>, limit: number): { data: Row[]; hasMore: boolean } {
    const data: Row[] = []
    let size = 0
    for (const row of rows) {
      running.throwIfExpired()
      if (data.length === limit || size >= PAGE_TEXT) return { data, hasMore: true }
      for (const value of Object.values(row)) if (typeof value === 'string') size += value.length
      data.push(row)
    }
    return { data, hasMore: false }
  }
}

/** Inexact above 2^53, where no entry that was written has a number. */
function withNumbers(row: Row): Row {
  const columns = Object.entries(row)
  return Object.fromEntries(
    columns.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}

const QUERIES = {
  /** A tenant whose oldest entry is too old. */
  tenant: `SELECT h.tenant FROM audit_heads h WHERE
    (SELECT a.at FROM audit a WHERE a.tenant = h.tenant ORDER BY a.id LIMIT 1) < ? LIMIT 1`,
  oldest: 'SELECT id, seq, hash, at FROM audit WHERE tenant = ? ORDER BY id LIMIT ?',
  delete: 'DELETE FROM audit WHERE tenant = ? AND id <= ?',
  start: `INSERT INTO audit_starts (tenant, seq, prev) VALUES (?, ?, ?)
    ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, prev = excluded.prev`,
}

export function auditRetention(database: DatabaseSync): { pruneAudit: Synchronous<AuditStore>['prune'] } {
  const statements = prepareAll(database, QUERIES)
  return {
    pruneAudit(before, limit) {
      const found = statements.tenant.get(before)
      if (found === undefined) return 0
      const tenant = text(found, 'tenant')
      const oldest = statements.oldest.all(tenant, limit)
      const kept = oldest.findIndex((row) => integer(row, 'at') >= before)
      const old = kept < 0 ? oldest : oldest.slice(0, kept)
      const last = old.at(-1)
      if (last === undefined) return 0
      statements.delete.run(tenant, text(last, 'id'))
      statements.start.run(tenant, integer(last, 'seq') + 1, text(last, 'hash'))
      return old.length
    },
  }
}
