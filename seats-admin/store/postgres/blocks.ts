/** Blocks: the list, and writes, each in its own transaction. */

import { type AdminRefusal, blockNotFound } from '../../model/refusal.ts'
import { unchangedAdministrationValues } from '../administration.ts'
import { blockEvent } from '../audit-forms.ts'
import { blockChange, blockQueries, blockRow, newBlock, storedBlock, subDigest } from '../blocks.ts'
import type { AdminStore } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { replaceUnstorable, storableOrEmpty } from '../storable-text.ts'
import { text } from '../rows.ts'
import { postgres, storableWriter } from './dialect.ts'
import { sql } from './sql.ts'
import { recorded, recordedWithAdministration } from './transaction.ts'

const { blockById, blockByUser, listBlocks } = blockQueries(postgres)
const LIST = sql(listBlocks)
const BY_ID = sql(blockById)
const BY_USER = sql(blockByUser)
/** A statement of its own: the insertion must see that the expired block of the same user is gone. */
const EXPIRE = sql(`DELETE FROM blocks WHERE tenant = :tenant AND until <= ${postgres.clock}`)
/** Versions without blocks record no content hash of their tables. */
const OLDER = sql('SELECT name FROM instances WHERE config IS NULL AND beat > 0 ORDER BY name LIMIT 1')
const PUT =
  recordedWithAdministration(`put AS (INSERT INTO blocks (tenant, id, sub, sub_digest, until, reason, created_by, created_at)
  VALUES (:tenant, :id, :sub, :sub_digest, :until, :reason, :created_by, :created_at)
  ON CONFLICT (tenant, id) DO UPDATE SET until = EXCLUDED.until, reason = EXCLUDED.reason),`)
const REMOVE = recorded('removed AS (DELETE FROM blocks WHERE tenant = :tenant AND id = :id),')

export function blocksOf(
  pools: ConnectionPools,
): Pick<AdminStore, 'createBlock' | 'deleteBlock' | 'listBlocks'> {
  return {
    async listBlocks(tenant, { limit, after }) {
      const values = { tenant, after: storableOrEmpty(after ?? ''), rows: limit + 1 }
      const rows = await pools.query(pools.administration, LIST, values)
      return { data: rows.slice(0, limit).map(storedBlock), hasMore: rows.length > limit }
    },

    createBlock(given, { user, until, reason: shown }) {
      const writer = storableWriter(given)
      const { tenant, now } = writer
      const reason = shown === null ? null : replaceUnstorable(shown)
      return pools.write(async (transaction) => {
        const [older] = await transaction.query(OLDER, {})
        if (older !== undefined) return olderInstance(text(older, 'name'))
        await transaction.query(EXPIRE, { tenant })
        const [found] = await transaction.query(BY_USER, { tenant, sub_digest: subDigest(user) })
        const before = found === undefined ? null : storedBlock(found)
        const block = newBlock(writer, before, () => transaction.idTime(now), { user, until, reason })
        transaction.record(blockEvent(before, block), now)
        const values = { ...blockRow(block), ...unchangedAdministrationValues(writer) }
        return { ...(await transaction.write(PUT, [blockChange(tenant, user)], values)), value: block }
      }, writer)
    },

    deleteBlock(given, wanted) {
      const writer = storableWriter(given)
      const { tenant, now } = writer
      const id = storableOrEmpty(wanted)
      return pools.write(async (transaction) => {
        const [found] = await transaction.query(BY_ID, { tenant, id })
        if (found === undefined) return blockNotFound
        const block = storedBlock(found)
        const change = blockChange(tenant, block.user)
        transaction.record(blockEvent(block, null), now)
        return { ...(await transaction.write(REMOVE, [change], { tenant, id })), value: null }
      }, writer)
    },
  }
}

/** During an upgrade: it would answer the requests of the user. */
function olderInstance(name: string): AdminRefusal {
  return {
    refused: 'unavailable',
    detail: `The instance ${name} has an older version, which knows no blocks. Replace it, and repeat: nothing was changed.`,
  }
}
