/** Writes to API keys, each in its own transaction. */

import { hashApiKey } from '../../model/api-key.ts'
import { apiKeyNotFound, grantExceedsOwn, isRefusal } from '../../model/refusal.ts'
import { grantsAny, mayManageKey, type Scope } from '../../model/scope.ts'
import { apiKeyChange, newApiKey, seatIdsOf } from '../api-key-rules.ts'
import { PAGE_TEXT, seatIsVisible, visibilityOf } from '../pages.ts'
import { integer, type Row, text } from '../rows.ts'
import { apiKeyQuery } from '../seat-queries.ts'
import type { AdminStore } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { isStorable, nameNotStorable, postgres, storableOrEmpty, storableWriter } from './dialect.ts'
import { sql } from './sql.ts'
import { logged, type Transaction } from './transaction.ts'

/** Permissions may take a megabyte: their size is read first. */
const SEAT = `s.id, s.name, octet_length(s.permissions) AS size, coalesce(${postgres.spacesColumn}, '[]') AS spaces`

const SEATS_BY_NAME = sql(
  `SELECT ${SEAT} FROM seats s
   WHERE s.tenant = :tenant AND s.name = ANY (:names::text[]) AND ${seatIsVisible(postgres)}`,
)
const FIND = sql(apiKeyQuery(postgres))
const SEATS_OF = sql(
  `SELECT ${SEAT} FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
   WHERE ks.tenant = :tenant AND ks.api_key_id = :id`,
)
const PERMISSIONS = sql('SELECT permissions FROM seats WHERE tenant = :tenant AND id = ANY (:ids::text[])')

const INSERT = logged(
  `made AS (INSERT INTO api_keys (tenant, id, name, hash, created_by, created_at, expires_at)
     VALUES (:tenant, :id, :name, :hash, :by, :now, :expires_at)),
   held AS (INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id)
     SELECT :tenant, :id, seat.at, seat.id FROM unnest(:seat_ids::text[]) WITH ORDINALITY AS seat (id, at)),`,
)
const REVOKE = logged(
  `revoked AS (UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now) WHERE tenant = :tenant AND id = :id),`,
)

export function apiKeyWritesOf(pools: ConnectionPools): Pick<AdminStore, 'createApiKey' | 'revokeApiKey'> {
  return {
    async createApiKey(author, input) {
      if (!isStorable(input.name)) return nameNotStorable
      const writer = storableWriter(author)
      const { tenant, by, scope, now } = writer
      return pools.write(async (transaction) => {
        const names = input.seats.filter(isStorable)
        const seats = await transaction.query(SEATS_BY_NAME, { tenant, names, ...visibilityOf(scope) })
        const ids = seatIdsOf(input.seats, new Map(seats.map((row) => [text(row, 'name'), text(row, 'id')])))
        if (isRefusal(ids)) return ids
        if (!(await mayGrant(transaction, tenant, scope, seats))) return grantExceedsOwn
        const made = newApiKey(writer, transaction.idTime(now), input)
        const { id, name, expiresAt: expires_at } = made
        const values = { tenant, id, name, hash: hashApiKey(made.key), by, now, expires_at, seat_ids: ids }
        return { ...(await transaction.write(INSERT, [apiKeyChange(tenant, id)], values)), value: made }
      })
    },

    revokeApiKey({ tenant, scope, now }, wantedId) {
      const id = storableOrEmpty(wantedId)
      return pools.write(async (transaction) => {
        const found = await transaction.query(FIND, { tenant, id, ...visibilityOf(scope) })
        if (found.length === 0) return apiKeyNotFound
        const seats = await transaction.query(SEATS_OF, { tenant, id })
        if (!(await mayGrant(transaction, tenant, scope, seats))) return grantExceedsOwn
        const committed = await transaction.write(REVOKE, [apiKeyChange(tenant, id)], { tenant, id, now })
        return { ...committed, value: null }
      })
    },
  }
}

/** Permissions are read only if they matter, in batches, until the result is known. */
async function mayGrant(
  transaction: Transaction,
  tenant: string,
  scope: Scope,
  seats: readonly Row[],
): Promise<boolean> {
  const granting = seats.map((row) => ({ spaces: JSON.parse(text(row, 'spaces')), permissions: [] }))
  if (!mayManageKey(scope, granting)) return false
  if (grantsAny(scope)) return true
  for (const ids of batches(seats)) {
    const rows = await transaction.query(PERMISSIONS, { tenant, ids })
    const held = rows.map((row) => ({
      spaces: [scope.space],
      permissions: JSON.parse(text(row, 'permissions')),
    }))
    if (!mayManageKey(scope, held)) return false
  }
  return true
}

function* batches(seats: readonly Row[]): Generator<string[]> {
  let ids: string[] = []
  let size = 0
  for (const row of seats) {
    ids.push(text(row, 'id'))
    size += integer(row, 'size')
    if (size < PAGE_TEXT) continue
    yield ids
    ids = []
    size = 0
  }
  if (ids.length > 0) yield ids
}
