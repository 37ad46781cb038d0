/** Reads of the audit, and its retention. */

import { auditHead, chainQuery, chainReading, headQuery, listQuery, listValues } from './audit-queries.ts'
import { auditEntry } from './audit-chain.ts'
import type { AuditStore } from './audit-store.ts'
import type { Database } from './database.ts'
import { integer, text } from './rows.ts'
import { storableOrEmpty } from './storable-text.ts'

const TENANT = `SELECT h.tenant FROM audit_heads h WHERE
  (SELECT a.at FROM audit a WHERE a.tenant = h.tenant ORDER BY a.id LIMIT 1) < :before LIMIT 1`
const OLDEST = 'SELECT id, seq, hash, at FROM audit WHERE tenant = :tenant ORDER BY id LIMIT :limit'
const DELETE = 'DELETE FROM audit WHERE tenant = :tenant AND id <= :id'
const START = `INSERT INTO audit_starts (tenant, seq, prev) VALUES (:tenant, :seq, :prev)
  ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, prev = excluded.prev`

export function auditReader({ dialect, reads, lists, write }: Database): AuditStore {
  const chain = chainQuery(dialect)
  return {
    async list(tenant, page) {
      const storable = {
        ...page,
        after: storableOrNull(page.after),
        actor: storableOrNull(page.actor),
        target: storableOrNull(page.target),
      }
      const values = listValues(tenant, storable)
      const { rows, hasMore } = await lists.page(listQuery(dialect, storable), values, page.limit)
      return { data: rows.map(auditEntry), hasMore }
    },

    head: async (tenant) => auditHead(await reads.get(headQuery, { tenant })),

    async chain(tenant, after, limit) {
      // The row without an entry, of an empty chain, counts too.
      const { rows } = await lists.page(chain, { tenant, after, limit }, limit + 1)
      return chainReading(rows)
    },

    prune: (before, limit) =>
      write(null, async (transaction) => {
        const found = await transaction.get(TENANT, { before })
        if (found === undefined) return 0
        const tenant = text(found, 'tenant')
        const oldest = await transaction.all(OLDEST, { tenant, limit })
        const kept = oldest.findIndex((row) => integer(row, 'at') >= before)
        const old = kept < 0 ? oldest : oldest.slice(0, kept)
        const last = old.at(-1)
        if (last === undefined) return 0
        const start = { id: text(last, 'id'), seq: integer(last, 'seq') + 1, prev: text(last, 'hash') }
        await transaction.modify([DELETE, START], { tenant, ...start })
        return old.length
      }),
  }
}

function storableOrNull(given: string | null): string | null {
  return given === null ? null : storableOrEmpty(given)
}
