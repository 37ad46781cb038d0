/** Reads of route tables. */

import { type ActiveTables, NO_TABLES, type TablesVersion } from '../model/tables-version.ts'
import type { Database } from './database.ts'
import { asOf } from './decision-reader.ts'
import { integer, type Row, text, textOrNull } from './rows.ts'
import { storableOrEmpty } from './storable-text.ts'
import { MAX_CANDIDATES, type TablesStore } from './tables-store.ts'

const COLUMNS = 'version, digest, hash, entries, created_at, created_by'

const ACTIVE = `SELECT c.seq, c.mark, v.version, v.digest, v.files FROM counter c
  LEFT JOIN tables_versions v ON v.tenant = :tenant
    AND v.version = (SELECT max(version) FROM tables_versions WHERE tenant = :tenant)`
const VERSION = `SELECT ${COLUMNS}, files FROM tables_versions WHERE tenant = :tenant AND version = :version`
const PAGE = `SELECT ${COLUMNS} FROM tables_versions WHERE tenant = :tenant AND version < :before
  ORDER BY version DESC LIMIT :rows`
const CANDIDATES = `SELECT id FROM tables_candidates WHERE tenant = :tenant ORDER BY id DESC LIMIT ${MAX_CANDIDATES}`
const CANDIDATE = 'SELECT files FROM tables_candidates WHERE tenant = :tenant AND id = :id'
const ANSWERS = 'SELECT instance, answer FROM tables_answers WHERE tenant = :tenant AND candidate = :id'

export function tablesReader({ reads, lists }: Database) {
  return {
    activeTables: async (tenant) => asOf(await reads.get(ACTIVE, { tenant }), activeTables),

    async tablesVersion(tenant, version) {
      const row = await lists.get(VERSION, { tenant, version: numberOrZero(version) })
      if (row === undefined) return null
      const files = textOrNull(row, 'files')
      return { ...tablesVersion(row), files: files === null ? null : JSON.parse(files) }
    },

    async listTables(tenant, { limit, after }) {
      const before = after === null ? Number.MAX_SAFE_INTEGER : numberOrZero(Number(after))
      const rows = await lists.all(PAGE, { tenant, before, rows: limit + 1 })
      return { data: rows.slice(0, limit).map(tablesVersion), hasMore: rows.length > limit }
    },

    async tablesCandidates(tenant) {
      const rows = await lists.all(CANDIDATES, { tenant })
      return rows.map((row) => text(row, 'id')).reverse()
    },

    async tablesCandidate(tenant, id) {
      const row = await lists.get(CANDIDATE, { tenant, id: storableOrEmpty(id) })
      return row === undefined ? null : JSON.parse(text(row, 'files'))
    },

    async candidateAnswers(tenant, id) {
      const rows = await lists.all(ANSWERS, { tenant, id: storableOrEmpty(id) })
      return new Map(rows.map((row) => [text(row, 'instance'), text(row, 'answer')]))
    },
  } satisfies Partial<TablesStore>
}

/** No version has the number 0, and none comes before it. PostgreSQL rejects what is no integer. */
function numberOrZero(version: number): number {
  return Number.isSafeInteger(version) ? version : 0
}

function activeTables(row: Row): ActiveTables {
  if (row.version === null) return NO_TABLES
  const files = JSON.parse(text(row, 'files'))
  return { version: integer(row, 'version'), digest: text(row, 'digest'), files }
}

/** The newest version; none before the first push. */
export const NEWEST = `SELECT ${COLUMNS} FROM tables_versions WHERE tenant = :tenant ORDER BY version DESC LIMIT 1`

export function tablesVersion(row: Row): TablesVersion {
  return {
    version: integer(row, 'version'),
    digest: text(row, 'digest'),
    hash: text(row, 'hash'),
    entries: integer(row, 'entries'),
    createdAt: integer(row, 'created_at'),
    createdBy: JSON.parse(text(row, 'created_by')),
  }
}
