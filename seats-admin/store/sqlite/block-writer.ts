/** Writes of blocks. Run in the writer's thread, each in its own transaction. */

import type { DatabaseSync } from 'node:sqlite'
import { blockNotFound } from '../../model/refusal.ts'
import { blockEvent } from '../audit-forms.ts'
import { blockChange, blockQueries, blockRow, newBlock, storedBlock, subDigest } from '../blocks.ts'
import type { AdminStore } from '../store.ts'
import type { Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'
import { keyAdministration } from './key-administration.ts'

const { blockById, blockByUser } = blockQueries(sqlite)

const QUERIES = {
  blockById,
  blockByUser,
  expire: `DELETE FROM blocks WHERE tenant = ? AND until <= ${sqlite.clock}`,
  put: `INSERT OR REPLACE INTO blocks (tenant, id, sub, sub_digest, until, reason, created_by, created_at)
    VALUES (:tenant, :id, :sub, :sub_digest, :until, :reason, :created_by, :created_at)`,
  remove: 'DELETE FROM blocks WHERE tenant = ? AND id = ?',
}

export function blockWrites(
  database: DatabaseSync,
  log: ChangeLog,
): Synchronous<Pick<AdminStore, 'createBlock' | 'deleteBlock'>> {
  const statements = prepareAll(database, QUERIES)
  const administration = keyAdministration(database)
  return {
    createBlock(writer, input) {
      const { tenant, now } = writer
      statements.expire.run(tenant)
      const found = statements.blockByUser.get({ tenant, sub_digest: subDigest(input.user) })
      const before = found === undefined ? null : storedBlock(found)
      const block = newBlock(writer, before, () => log.idTime(now), input)
      statements.put.run(blockRow(block))
      const committed = log.record(writer, [blockEvent(before, block)], [blockChange(tenant, block.user)])
      return { ...committed, ...administration(writer), value: block }
    },

    deleteBlock(writer, id) {
      const { tenant } = writer
      const found = statements.blockById.get({ tenant, id })
      if (found === undefined) return blockNotFound
      statements.remove.run(tenant, id)
      const block = storedBlock(found)
      const committed = log.record(writer, [blockEvent(block, null)], [blockChange(tenant, block.user)])
      return { ...committed, value: null }
    },
  }
}
