/** Writes of route tables. Proposals and activations exclude each other, as all numbered writes. */

import { matches, tablesTag } from '../model/entity-tag.ts'
import { type AdminRefusal, preconditionFailed } from '../model/refusal.ts'
import { NO_TABLES, storedTablesOf, type TablesNotice, type TablesVersion } from '../model/tables-version.ts'
import { ulid } from '../model/ulid.ts'
import { tablesEvent } from './audit-forms.ts'
import { olderInstance } from './block-writer.ts'
import type { Database } from './database.ts'
import { type Dialect, integer, text, textOrNull } from './rows.ts'
import { storableOrEmpty } from './storable-text.ts'
import { NEWEST, tablesVersion } from './tables-reader.ts'
import { CANDIDATE_AGE, KEPT_FILES, type TablesEffect, type TablesStore } from './tables-store.ts'
import type { Transaction } from './transaction.ts'

export function tablesWriter({ dialect, unnumbered, write }: Database) {
  const queries = tablesQueries(dialect)
  return {
    proposeTables(author, { files, digest, effect = 'at-once' }) {
      const { tenant, ifMatch = null } = author
      const json = JSON.stringify(files)
      return write(author, async (transaction) => {
        const active = (await newest(transaction, tenant)) ?? NO_TABLES
        if (!matches(ifMatch, tablesTag(active))) return preconditionFailed
        const refusal = await refusals[effect](dialect, transaction, tenant)
        if (refusal !== null) return refusal
        const base = active.version
        if (active.digest === digest) return { ...transaction.unchanged, value: { id: null, base } }
        const id = ulid(transaction.idTime())
        const changes = [{ tenant, kind: 'tables-candidate', key: id } as const]
        const values = { tenant, id, base, digest, files: json }
        const committed = await transaction.commit([queries.expire, queries.propose], changes, values)
        return { ...committed, value: { id, base } }
      })
    },

    activateTables(author, wanted, compiled, effect = 'at-once') {
      const { tenant, now } = author
      const id = storableOrEmpty(wanted)
      return write(author, async (transaction) => {
        const candidate = await transaction.get(queries.candidate, { tenant, id })
        if (candidate === undefined) return candidateGone
        const before = await newest(transaction, tenant)
        const base = integer(candidate, 'base')
        if (base !== (before?.version ?? NO_TABLES.version)) return preconditionFailed
        const refusal = await refusals[effect](dialect, transaction, tenant)
        if (refusal !== null) return refusal
        const [version, digest] = [base + 1, text(candidate, 'digest')]
        const after = { version, digest, ...compiled, createdAt: now, createdBy: transaction.actor }
        transaction.record(tablesEvent(before, after))
        const notice: TablesNotice = { version, digest, candidate: id }
        const changes = [{ tenant, kind: 'tables', key: JSON.stringify(notice) } as const]
        const values = { tenant, id, ...versionValues(after), oldest: version - KEPT_FILES }
        const parts = [queries.activate, queries.remove, queries.forget]
        return { ...(await transaction.commit(parts, changes, values)), value: after }
      })
    },

    async answerCandidate(tenant, id, instance, answer) {
      const values = { tenant, id: storableOrEmpty(id), instance, answer }
      await unnumbered.modify([queries.answer], DONE, values)
    },

    async withdrawTables(tenant, id) {
      await unnumbered.modify([queries.withdraw], DONE, { tenant, id: storableOrEmpty(id) })
    },
  } satisfies Partial<TablesStore>
}

const DONE = 'SELECT 1 AS done'

const candidateGone: AdminRefusal = {
  refused: 'precondition_failed',
  detail: 'The candidate was withdrawn, or removed for its age. Read the tables again: nothing was changed.',
}

async function newest(transaction: Transaction, tenant: string): Promise<TablesVersion | null> {
  const row = await transaction.get(NEWEST, { tenant })
  return row === undefined ? null : tablesVersion(row)
}

/**
 * The refusal of tables by which an instance of the list would not decide. An instance that registers later
 * has what the store has, or a configuration of its own.
 */
async function refuseInstances(
  dialect: Dialect,
  transaction: Transaction,
  tenant: string,
): Promise<AdminRefusal | null> {
  const older = await olderInstance(dialect, transaction, 'tables')
  if (older !== null || dialect.instanceWithOtherTables === null) return older
  const tables_from = storedTablesOf(tenant)
  const other = await transaction.get(dialect.instanceWithOtherTables, { tables_from })
  return other === undefined ? null : tablesElsewhere(text(other, 'name'), textOrNull(other, 'tables_from'))
}

/** The refusal of tables that an instance of the list would decide by without having prepared them. */
async function refuseReaders(
  dialect: Dialect,
  transaction: Transaction,
  tenant: string,
): Promise<AdminRefusal | null> {
  const older = await olderInstance(dialect, transaction, 'tables')
  if (older !== null || dialect.instanceWithTables === null) return older
  const reader = await transaction.get(dialect.instanceWithTables, { tables_from: storedTablesOf(tenant) })
  if (reader === undefined) return null
  return {
    refused: 'tables_refused',
    detail: `The instance ${text(reader, 'name')} decides by the tables in the store: push through a gateway. Nothing was changed.`,
  }
}

const refusals: Readonly<Record<TablesEffect, typeof refuseInstances>> = {
  'at-once': refuseInstances,
  'at-start': refuseReaders,
}

function tablesElsewhere(name: string, from: string | null): AdminRefusal {
  const where = from?.startsWith(storedTablesOf('')) === true ? 'of another tenant' : 'in files'
  return {
    refused: 'tables_in_files',
    detail: `The instance ${name} has its route tables ${where}. Configure it as the others, or end it, and repeat: nothing was changed.`,
  }
}

function versionValues({ version, hash, entries, createdAt, createdBy }: TablesVersion) {
  return { version, hash, entries, created_at: createdAt, created_by: JSON.stringify(createdBy) }
}

function tablesQueries({ clock, forUpdate }: Dialect) {
  const isOld = `created_at < ${clock} - ${CANDIDATE_AGE}`
  return {
    expire: `DELETE FROM tables_candidates WHERE tenant = :tenant AND ${isOld}`,
    propose: `INSERT INTO tables_candidates (tenant, id, base, digest, files, created_at)
      VALUES (:tenant, :id, :base, :digest, :files, ${clock})`,
    candidate: 'SELECT base, digest FROM tables_candidates WHERE tenant = :tenant AND id = :id',
    activate: `INSERT INTO tables_versions (tenant, version, digest, hash, entries, created_at, created_by, files)
      SELECT tenant, :version, digest, :hash, :entries, :created_at, :created_by, files
      FROM tables_candidates WHERE tenant = :tenant AND id = :id`,
    remove: `DELETE FROM tables_candidates WHERE tenant = :tenant AND (id = :id OR ${isOld})`,
    forget: `UPDATE tables_versions SET files = NULL
      WHERE tenant = :tenant AND version <= :oldest AND files IS NOT NULL`,
    /** Without the lock, the candidate could be removed between its reading and the check of the foreign key. */
    answer: `INSERT INTO tables_answers (tenant, candidate, instance, answer)
      SELECT tenant, id, :instance, :answer FROM tables_candidates WHERE tenant = :tenant AND id = :id ${forUpdate}
      ON CONFLICT (tenant, candidate, instance) DO UPDATE SET answer = excluded.answer`,
    withdraw: 'DELETE FROM tables_candidates WHERE tenant = :tenant AND id = :id',
  }
}
