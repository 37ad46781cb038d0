/** Writes of blocks, each in its own transaction. */

import type { Block } from '../model/block.ts'
import { BLOCK_ORIGIN } from '../model/registered-instance.ts'
import { type AdminRefusal, blockNotFound, isRefusal } from '../model/refusal.ts'
import { ulid } from '../model/ulid.ts'
import { blockEvent } from './audit-forms.ts'
import { blockChange, blockQueries, blockRow, storedBlock, subDigest } from './block-queries.ts'
import type { Database } from './database.ts'
import { beginToken, isOutdated } from './provider-tokens.ts'
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
  const { instanceWithoutBlocks } = dialect
  return async (
    transaction: Transaction,
    { tenant, now, by }: Writer,
    { user, until, reason, origin = 'admin' }: BlockInput,
  ): Promise<(Effect & { readonly block: Block }) | AdminRefusal> => {
    if (instanceWithoutBlocks !== null) {
      const older = await transaction.get(instanceWithoutBlocks, {})
      if (older !== undefined) return refusalFor(text(older, 'name'))
    }
    // An older instance reads one of two blocks, and would accept the user when that one ends.
    if (origin !== 'admin') {
      const older = await olderInstance(dialect, transaction, BLOCK_ORIGIN)
      if (older !== null) return older
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
  const { blockById, blockByUser } = blockQueries(dialect)
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

    liftBlock(author, { user, origin }, { token, saidAt }) {
      const { tenant } = author
      return write(author, async (transaction, { now }) => {
        const state = token === null ? null : await beginToken(transaction, tenant, token, now)
        if (state !== null) return state
        const nothing = { ...transaction.unchanged, value: null }
        if (saidAt !== undefined && (await isOutdated(transaction, tenant, user, saidAt))) return nothing
        const row = await transaction.get(blockByUser, { tenant, sub_digest: subDigest(user), origin })
        if (row === undefined) return nothing
        const block = storedBlock(row)
        transaction.record(blockEvent('block.delete', block, null))
        const changes = [blockChange(tenant, user)]
        return {
          ...(await transaction.commit([REMOVE_BLOCK], changes, { tenant, id: block.id })),
          value: block,
        }
      })
    },

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

/**
 * The refusal of a write that a running instance of an older version does not understand, and would decide
 * against; null: there is no such instance.
 *
 * @param understands what instances register that understand it
 */
export async function olderInstance(
  { instanceWithout }: Dialect,
  transaction: Transaction,
  understands: string,
): Promise<AdminRefusal | null> {
  if (instanceWithout === null) return null
  const older = await transaction.get(instanceWithout, { understands: `"${understands}"` })
  return older === undefined ? null : refusalFor(text(older, 'name'))
}

/** During an upgrade. */
function refusalFor(name: string): AdminRefusal {
  return {
    refused: 'unavailable',
    detail: `The instance ${name} has an older version, which does not understand the change. Replace it, and repeat: nothing was changed.`,
  }
}
