/** Reads of the audit, and its retention. */

import { FIRST } from '../model/audit.ts'
import { isUlid } from '../model/ulid.ts'
import { AUDIT_COLUMNS, auditEntry, auditHead, headQuery } from './audit-chain.ts'
import type { AuditPage, AuditStore } from './audit-store.ts'
import type { Database } from './database.ts'
import { type Dialect, integer, integerOrNull, text, textOrNull } from './rows.ts'
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
      const { scope, ...filter } = page
      const values = {
        ...filter,
        after: storableOrNull(page.after),
        actor: storableOrNull(page.actor),
        target: storableOrNull(page.target),
        tenant,
        space: scope.space,
        rows: page.limit + 1,
      }
      const { rows, hasMore } = await lists.page(listQuery(dialect, page), values, page.limit)
      return { data: rows.map(auditEntry), hasMore }
    },

    head: async (tenant) => auditHead(await reads.get(headQuery, { tenant })),

    async chain(tenant, after, limit) {
      // The row without an entry, of an empty chain, counts too.
      const { rows } = await lists.page(chain, { tenant, after, limit }, limit + 1)
      const first = rows[0] ?? {}
      const startSeq = integerOrNull(first, 'start_seq')
      return {
        rows: rows.filter(({ id }) => id !== null),
        head:
          first.head_seq === null
            ? null
            : { seq: integer(first, 'head_seq'), hash: text(first, 'head_hash') },
        start: startSeq === null ? FIRST : { seq: startSeq, prev: textOrNull(first, 'start_prev') },
      }
    },

    prune: (before, limit) =>
      write(null, async (transaction) => {
        const row = await transaction.get(TENANT, { before })
        if (row === undefined) return 0
        const tenant = text(row, 'tenant')
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

function storableOrNull(value: string | null): string | null {
  return value === null ? null : storableOrEmpty(value)
}

const NAMES = Object.keys(AUDIT_COLUMNS).join(', ')

/**
 * The characters of an id that an index has: PostgreSQL's indexes take no long values. Must equal the
 * expressions of the indexes textually.
 */
const indexed = (column: string) => `substr(${column}, 1, 64)`

/**
 * What has this id, or had this name. A text in the form of an id is taken as one alone, which an index
 * finds.
 */
function named(who: 'actor' | 'target', idOrName: string): string {
  const byId = `${indexed(`${who}_id`)} = ${indexed(`:${who}`)} AND ${who}_id = :${who}`
  return isUlid(idOrName) ? byId : `(${who}_id = :${who} OR ${who}_name = :${who})`
}

const STATES = ['before', 'after']

/** A page, newest first. */
function listQuery(
  dialect: Dialect,
  { after, since, until, action, actor, target, scope }: AuditPage,
): string {
  const conditions = ['tenant = :tenant']
  if (after !== null) conditions.push('id < :after')
  if (since !== null) conditions.push('at >= :since')
  if (until !== null) conditions.push('at < :until')
  if (action !== null) conditions.push('action = :action')
  if (actor !== null) conditions.push(named('actor', actor))
  if (target !== null) conditions.push(named('target', target))
  if (!scope.admin) conditions.push('visible_in = :space')
  const rows = `SELECT ${NAMES} FROM audit WHERE ${conditions.join(' AND ')} ORDER BY id DESC LIMIT :rows`
  return dialect.page(rows, STATES, 'DESC')
}

/**
 * A page, of at least one row: without an id where there are no entries. One statement, so that the entries
 * and both ends are of one snapshot.
 */
function chainQuery(dialect: Dialect): string {
  const entries = `SELECT ${NAMES} FROM audit WHERE tenant = :tenant AND id > :after ORDER BY id LIMIT :limit`
  const page = dialect.page(entries, STATES, 'ASC')
  return `SELECT h.seq AS head_seq, h.hash AS head_hash, st.seq AS start_seq, st.prev AS start_prev, e.*
    FROM (SELECT 1 AS one) o LEFT JOIN audit_heads h ON h.tenant = :tenant
    LEFT JOIN audit_starts st ON st.tenant = :tenant LEFT JOIN (${page}) e ON TRUE ORDER BY e.id`
}
