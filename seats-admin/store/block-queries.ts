/**
 * Statements and rules of blocks. `sub` is a JSON string, as a token may name any text; a digest identifies
 * it, because PostgreSQL indexes only short values.
 */

import { createHash } from 'node:crypto'
import { type Block, BLOCK_ORIGINS } from '../model/block.ts'
import type { Change } from '../model/change.ts'
import { type Dialect, integer, integerOrNull, type Row, text, textOrNull } from './rows.ts'

const BLOCK_COLUMNS = 'b.id, b.tenant, b.sub, b.origin, b.until, b.reason, b.created_by, b.created_at'

/** As columns `sub` have it. */
export function subText(user: string): string {
  return JSON.stringify(user)
}

export function subDigest(user: string): Uint8Array {
  return createHash('sha256').update(subText(user)).digest()
}

/** Milliseconds that an expired block is kept: a clock that is ahead for that long makes no block end. */
const KEPT = 24 * 3_600_000

/**
 * Statements of administration. Expired blocks are not shown. The next block of the tenant deletes them, once
 * they are expired by two clocks for {@link KEPT}, and the one that it replaces at once.
 */
export function blockQueries({ clock }: Dialect) {
  const active = `(b.until IS NULL OR b.until > ${clock})`
  const kept = `CASE WHEN sub_digest = :sub_digest AND origin = :origin THEN 0 ELSE ${KEPT} END`
  return {
    blockById: `SELECT ${BLOCK_COLUMNS} FROM blocks b WHERE b.tenant = :tenant AND b.id = :id AND ${active}`,
    blockByUser: `SELECT ${BLOCK_COLUMNS} FROM blocks b
      WHERE b.tenant = :tenant AND b.sub_digest = :sub_digest AND b.origin = :origin`,
    listBlocks: `SELECT ${BLOCK_COLUMNS} FROM blocks b WHERE b.tenant = :tenant AND b.id > :after AND ${active}
      ORDER BY b.id LIMIT :rows`,
    expire: `DELETE FROM blocks WHERE tenant = :tenant AND until + ${kept} <= ${clock} AND until + ${kept} <= :now`,
  }
}

export function storedBlock(row: Row): Block {
  return {
    id: text(row, 'id'),
    tenant: text(row, 'tenant'),
    user: JSON.parse(text(row, 'sub')),
    origin: originOf(row),
    until: integerOrNull(row, 'until'),
    reason: textOrNull(row, 'reason'),
    createdBy: text(row, 'created_by'),
    createdAt: integer(row, 'created_at'),
  }
}

export function blockRow({ tenant, id, user, origin, until, reason, createdBy, createdAt }: Block) {
  const sub = { sub: subText(user), sub_digest: subDigest(user) }
  return { tenant, id, ...sub, origin, until, reason, created_by: createdBy, created_at: createdAt }
}

function originOf(row: Row): Block['origin'] {
  const stored = text(row, 'origin')
  const origin = BLOCK_ORIGINS.find((each) => each === stored)
  if (origin === undefined) throw new Error(`a block of the unknown origin ${stored}`)
  return origin
}

/** The key is the user as a JSON string, as it may be any text. */
export function blockChange(tenant: string, user: string): Change {
  return { tenant, kind: 'block', key: subText(user) }
}
