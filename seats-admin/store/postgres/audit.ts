/** Reads of the audit, and its retention. */

import { auditEntry } from '../audit-rows.ts'
import {
  auditHead,
  chainPage,
  chainQuery,
  chainReading,
  headQuery,
  listQuery,
  listValues,
} from '../audit-queries.ts'
import type { AuditPage, AuditStore } from '../audit-store.ts'
import { PAGE_TEXT } from '../pages.ts'
import { integer } from '../rows.ts'
import { storableOrEmpty } from '../storable-text.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { type Sql, sql } from './sql.ts'

const SIZE = `coalesce(octet_length(p.before), 0) + coalesce(octet_length(p.after), 0)`

/** The server ends a page by the size of the preceding rows, so that it never sends a page of only large entries. */
function cut(rows: string, order: 'ASC' | 'DESC'): string {
  return `SELECT * FROM (
      SELECT p.*, count(*) OVER () AS found, sum(${SIZE}) OVER (ORDER BY p.id ${order}) - (${SIZE}) AS ahead FROM (${rows}) p
    ) q WHERE q.ahead < ${PAGE_TEXT}`
}

const HEAD = sql(headQuery)
const CHAIN = sql(chainQuery(cut(chainPage, 'ASC')))

function listOf(page: AuditPage): Sql {
  return sql(`${cut(listQuery(page), 'DESC')} ORDER BY q.id DESC LIMIT ${page.limit}`)
}

/** The key of the advisory lock, "Audi" in ASCII. */
const LOCK = 0x41756469

/**
 * The lock lasts until the end of the statement. A statement that waited for nothing may still have the snapshot from before
 * another one's deletions: it deletes nothing more then, and the start of the chain never goes back.
 */
const PRUNE = sql(
  `WITH mine AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${LOCK}) AS mine),
   chain AS MATERIALIZED (SELECT h.tenant FROM audit_heads h, mine WHERE mine.mine
     AND (SELECT a.at FROM audit a WHERE a.tenant = h.tenant ORDER BY a.id LIMIT 1) < :before LIMIT 1),
   oldest AS MATERIALIZED (SELECT a.tenant, a.id, a.seq, a.hash, a.at FROM audit a JOIN chain USING (tenant)
     ORDER BY a.id LIMIT :limit),
   old AS MATERIALIZED (SELECT * FROM oldest o
     WHERE NOT EXISTS (SELECT 1 FROM oldest kept WHERE kept.id <= o.id AND kept.at >= :before)),
   gone AS (DELETE FROM audit a USING old WHERE a.tenant = old.tenant AND a.id = old.id RETURNING 1),
   started AS (INSERT INTO audit_starts AS st (tenant, seq, prev)
     SELECT tenant, seq + 1, hash FROM old ORDER BY id DESC LIMIT 1
     ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, prev = excluded.prev WHERE st.seq < excluded.seq)
   SELECT count(*) AS gone FROM gone`,
)

export function auditOf(pools: ConnectionPools): AuditStore {
  const { administration } = pools
  return {
    async list(tenant, page) {
      const { after, actor, target } = page
      const storable = {
        ...page,
        after: after === null ? null : storableOrEmpty(after),
        actor: actor === null ? null : storableOrEmpty(actor),
        target: target === null ? null : storableOrEmpty(target),
      }
      const rows = await pools.query(administration, listOf(storable), listValues(tenant, storable))
      const [first] = rows
      return {
        data: rows.map(auditEntry),
        hasMore: first !== undefined && integer(first, 'found') > rows.length,
      }
    },

    head: async (tenant) => auditHead((await pools.query(pools.reads, HEAD, { tenant }))[0]),

    chain: async (tenant, after, limit) =>
      chainReading(await pools.query(administration, CHAIN, { tenant, after, limit })),

    async prune(before, limit) {
      const [row] = await pools.query(administration, PRUNE, { before, limit })
      return row === undefined ? 0 : integer(row, 'gone')
    },
  }
}
