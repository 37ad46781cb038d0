/** Writes to API keys, each in its own transaction. */

import { hashApiKey } from '../../model/api-key.ts'
import { apiKeyTag, matches } from '../../model/entity-tag.ts'
import { apiKeyNotFound, grantExceedsOwn, isRefusal, preconditionFailed } from '../../model/refusal.ts'
import { grantsAny, mayManageKey, type Scope } from '../../model/scope.ts'
import { apiKeyChange, newApiKey, revoked, seatIdsOf } from '../api-key-rules.ts'
import { unchangedAdministrationValues } from '../administration.ts'
import { apiKeyEvent } from '../audit-forms.ts'
import { PAGE_TEXT, seatIsVisible, visibilityOf } from '../pages.ts'
import { apiKey, integer, type Row, text } from '../rows.ts'
import { apiKeyInsert, apiKeyQuery } from '../seat-queries.ts'
import { isStorable, storableOrEmpty } from '../storable-text.ts'
import type { AdminStore } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { nameNotStorable, postgres, storableWriter } from './dialect.ts'
import { sql } from './sql.ts'
import { recorded, recordedWithAdministration, type Transaction } from './transaction.ts'

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

const INSERT = recordedWithAdministration(
  `made AS (${apiKeyInsert}),
   held AS (INSERT INTO api_key_seats (tenant, api_key_id, position, seat_id)
     SELECT :tenant, :id, seat.at, seat.id FROM unnest(:seat_ids::text[]) WITH ORDINALITY AS seat (id, at)),`,
)
const REVOKE = recorded(
  `revoked AS (UPDATE api_keys SET revoked_at = coalesce(revoked_at, :now), version = version + 1 WHERE tenant = :tenant AND id = :id),`,
)

/** Rows are locked in order, so that two instances with the same keys do not wait for each other in a circle. */
const USE = sql(
  `WITH used AS (SELECT tenant, id, max(at) AS at
     FROM unnest(:tenants::text[], :ids::text[], :ats::bigint[]) AS u (tenant, id, at) GROUP BY tenant, id),
   locked AS (SELECT k.tenant, k.id, u.at FROM api_keys k JOIN used u ON u.tenant = k.tenant AND u.id = k.id
     WHERE k.last_used_at IS NULL OR k.last_used_at < u.at
     ORDER BY k.tenant, k.id FOR NO KEY UPDATE OF k)
   UPDATE api_keys k SET last_used_at = l.at FROM locked l
   WHERE k.tenant = l.tenant AND k.id = l.id AND (k.last_used_at IS NULL OR k.last_used_at < l.at)`,
)

export function apiKeyWritesOf(
  pools: ConnectionPools,
): Pick<AdminStore, 'createApiKey' | 'revokeApiKey' | 'recordKeyUse'> {
  return {
    /** Without the lock of writes, which numbers changes. A failure says nothing that decisions or writes depend on. */
    async recordKeyUse(uses) {
      const storable = uses.filter(({ tenant, id }) => isStorable(tenant) && isStorable(id))
      const tenants = storable.map(({ tenant }) => tenant)
      const [ids, ats] = [storable.map(({ id }) => id), storable.map(({ at }) => at)]
      await pools.queryUnobserved(pools.signIns, USE, { tenants, ids, ats })
    },

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
        transaction.record(apiKeyEvent('api_key.create', null, made), now)
        const { id, name, expiresAt: expires_at } = made
        const columns = { id, name, hash: hashApiKey(made.key), by, expires_at, seat_ids: ids }
        const values = { ...unchangedAdministrationValues(writer), ...columns }
        return { ...(await transaction.write(INSERT, [apiKeyChange(tenant, id)], values)), value: made }
      }, writer)
    },

    revokeApiKey(author, wantedId) {
      const { tenant, scope, now, ifMatch = null } = author
      const id = storableOrEmpty(wantedId)
      return pools.write(async (transaction) => {
        const [row] = await transaction.query(FIND, { tenant, id, ...visibilityOf(scope) })
        if (row === undefined) return apiKeyNotFound
        const seats = await transaction.query(SEATS_OF, { tenant, id })
        if (!(await mayGrant(transaction, tenant, scope, seats))) return grantExceedsOwn
        const before = apiKey(row)
        if (!matches(ifMatch, apiKeyTag(before))) return preconditionFailed
        transaction.record(apiKeyEvent('api_key.revoke', before, revoked(before, now)), now)
        const committed = await transaction.write(REVOKE, [apiKeyChange(tenant, id)], { tenant, id, now })
        return { ...committed, value: null }
      }, author)
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
