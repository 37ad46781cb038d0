/** Writes of blocks, each in its own transaction. */

import type { Block } from '../model/block.ts'
import { BLOCK_ORIGIN } from '../model/registered-instance.ts'
import { type AdminRefusal, blockNotFound, isRefusal } from '../model/refusal.ts'
import { ulid } from '../model/ulid.ts'
import { blockEvent } from './audit-forms.ts'
import { blockChange, blockQueries, blockRow, storedBlock, subDigest } from './block-queries.ts'
import type { Database } from './database.ts'
import { type Dialect, text } from './rows.ts'
import { replaceUnstorable, storableOrEmpty } from './storable-text.ts'
import type { AdminStore, BlockInput, Writer } from './store.ts'
import type { Effect, Transaction } from './transaction.ts'

const PUT = `INSERT INTO blocks (tenant, id, sub, sub_digest, origin, until, reason, created_by, created_at)
  VALUES (:tenant, :id, :sub, :sub_digest, :origin, :until, :reason, :created_by, :created_at)
  ON CONFLICT (tenant, id) DO UPDATE SET until = excluded.until, reason = excluded.reason,
    created_by = excluded.created_by, created_at = excluded.created_at`
export const REMOVE_BLOCK = 'DELETE FROM blocks WHERE tenant = :tenant AND id = :id'

/** Blocks a user in a transaction, in place of an earlier block of the same origin. */
export function blocking(dialect: Dialect) {
  const { blockByUser, expire } = blockQueries(dialect)
  const { instanceWithoutBlocks, instanceWithout } = dialect
  return async (
    transaction: Transaction,
    { tenant, now, by }: Writer,
    { user, until, reason, origin = 'admin' }: BlockInput,
  ): Promise<(Effect & { readonly block: Block }) | AdminRefusal> => {
    if (instanceWithoutBlocks !== null) {
      const older = await transaction.get(instanceWithoutBlocks, {})
      if (older !== undefined) return olderInstance(text(older, 'name'), 'knows no blocks')
    }
    // Of two blocks of a user it would take one, and accept the user again at the end of that one.
    if (instanceWithout !== null && origin !== 'admin') {
      const older = await transaction.get(instanceWithout, { understands: `"${BLOCK_ORIGIN}"` })
      if (older !== undefined) return olderInstance(text(older, 'name'), 'knows one block of a user')
    }
    const sub_digest = subDigest(user)
    // Before the insertion, which must not meet the expired block that it replaces.
    await transaction.modify([expire], { tenant, sub_digest, origin, now })
    const row = await transaction.get(blockByUser, { tenant, sub_digest, origin })
    const before = row === undefined ? null : storedBlock(row)
    const shown = reason === null ? null : replaceUnstorable(reason)
    // A second block of the origin replaces what the first says, its author included, and keeps the id.
    const id = before?.id ?? ulid(transaction.idTime())
    const block = { id, tenant, user, origin, until, reason: shown, createdBy: by, createdAt: now }
    transaction.record(blockEvent('block.create', before, block))
    return { parts: [PUT], changes: [blockChange(tenant, user)], values: blockRow(block), block }
  }
}

export function blockWriter({ dialect, write }: Database) {
  const { blockById } = blockQueries(dialect)
  const blocked = blocking(dialect)
  return {
    createBlock: (author, input) =>
      write(author, async (transaction, writer) => {
        const effect = await blocked(transaction, writer, input)
        if (isRefusal(effect)) return effect
        const { parts, changes, values, block } = effect
        const administrative = { owner: input.user }
        const committed = await transaction.commitAdministrative(parts, changes, values, administrative)
        return { ...committed, value: block }
      }),

    deleteBlock(author, wanted) {
      const { tenant } = author
      const id = storableOrEmpty(wanted)
      return write(author, async (transaction) => {
        const row = await transaction.get(blockById, { tenant, id })
        if (row === undefined) return blockNotFound
        const block = storedBlock(row)
        const changes = [blockChange(tenant, block.user)]
        transaction.record(blockEvent('block.delete', block, null))
        return { ...(await transaction.commit([REMOVE_BLOCK], changes, { tenant, id })), value: null }
      })
    },
  } satisfies Partial<AdminStore>
}

/** During an upgrade: it would answer the requests of the user. */
function olderInstance(name: string, what: string): AdminRefusal {
  return {
    refused: 'unavailable',
    detail: `The instance ${name} has an older version, which ${what}. Replace it, and repeat: nothing was changed.`,
  }
}
