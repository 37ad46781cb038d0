/** Writes to API keys, each in its own transaction. */

import { randomBytes } from 'node:crypto'
import { type ApiKey, formatApiKey, hashApiKey } from '../model/api-key.ts'
import { apiKeyTag, matches } from '../model/entity-tag.ts'
import {
  type AdminRefusal,
  apiKeyNotFound,
  grantExceedsOwn,
  isRefusal,
  preconditionFailed,
  unknownSeats,
} from '../model/refusal.ts'
import { grantsAny, mayManageKey } from '../model/scope.ts'
import { crockford, ulid } from '../model/ulid.ts'
import { apiKeyEvent } from './audit-forms.ts'
import { subDigest } from './block-queries.ts'
import type { Database } from './database.ts'
import { apiKeyChange, endings, recordRevocation } from './endings.ts'
import { apiKeyById, PAGE_TEXT, seatIsVisible, visibilityOf } from './pages.ts'
import { apiKey, type Columns, type Dialect, integer, quoted, type Row, text } from './rows.ts'
import { isStorable, nameNotStorable, storableOrEmpty } from './storable-text.ts'
import type { AdminStore, ApiKeyInput, Writer } from './store.ts'
import type { Transaction } from './transaction.ts'

const INSERT = `INSERT INTO api_keys (tenant, id, name, hash, created_by, created_at, expires_at, owner, owner_digest)
  VALUES (:tenant, :id, :name, :hash, :by, :now, :expires_at, :owner, :owner_digest)`

const HELD: Columns = { tenant: 'text', api_key_id: 'text', position: 'bigint', seat_id: 'text' }

/** The parts that insert a new API key with its Seats, in order, and their parameters. */
export function apiKeyInsertion({ tenant, by, now }: Writer, made: NewApiKey, seatIds: readonly string[]) {
  const { id, name, key, expiresAt: expires_at, owner: user } = made
  const owner = { owner: quoted(user), owner_digest: user === null ? null : subDigest(user) }
  const records = seatIds.map((seat_id, position) => ({ tenant, api_key_id: id, position, seat_id }))
  return {
    parts: [INSERT, { table: 'api_key_seats', columns: HELD, records }],
    values: { tenant, id, name, hash: hashApiKey(key), by, now, expires_at, ...owner },
  }
}

/** What {@link mayGrant} needs of Seat `s`. Permissions may take a megabyte: their size is read first. */
export function seatColumns({ spacesColumn }: Dialect): string {
  return `s.id, s.name, octet_length(s.permissions) AS size, coalesce(${spacesColumn}, '[]') AS spaces`
}

/** The query of {@link mayGrant} for the permissions of some Seats, by their ids. */
export function seatPermissions({ texts }: Dialect): string {
  return `SELECT permissions FROM seats WHERE tenant = :tenant AND id IN (${texts(':ids')})`
}

function apiKeyQueries(dialect: Dialect) {
  const { texts } = dialect
  const seat = seatColumns(dialect)
  return {
    find: apiKeyById(dialect),
    seatsByName: `SELECT ${seat} FROM seats s
      WHERE s.tenant = :tenant AND s.name IN (${texts(':names')}) AND ${seatIsVisible(dialect)}`,
    seatsOf: `SELECT ${seat} FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
      WHERE ks.tenant = :tenant AND ks.api_key_id = :id`,
    permissions: seatPermissions(dialect),
    // The rows are locked in order, so that two instances with the same keys do not wait for each other in a
    // circle.
    use: `WITH used AS (SELECT u.tenant, u.id, max(u.at) AS at
        FROM ${dialect.records(':uses', 'u', { tenant: 'text', id: 'text', at: 'bigint' })} GROUP BY u.tenant, u.id),
      later AS MATERIALIZED (SELECT k.tenant, k.id, u.at FROM api_keys k JOIN used u ON u.tenant = k.tenant AND u.id = k.id
        WHERE k.last_used_at IS NULL OR k.last_used_at < u.at ORDER BY k.tenant, k.id ${dialect.forUpdate})
      UPDATE api_keys AS k SET last_used_at = l.at FROM later l
      WHERE k.tenant = l.tenant AND k.id = l.id AND (k.last_used_at IS NULL OR k.last_used_at < l.at)`,
  }
}

export function apiKeyWriter({ dialect, unnumbered, write }: Database) {
  const queries = apiKeyQueries(dialect)
  const { revokeApiKeys } = endings(dialect)
  return {
    /** A failure says nothing that decisions or writes depend on. */
    async recordKeyUse(uses) {
      const storable = uses.filter(({ tenant, id }) => isStorable(tenant) && isStorable(id))
      await unnumbered.unobserved(queries.use, { uses: JSON.stringify(storable) })
    },

    async createApiKey(author, input) {
      if (!isStorable(input.name)) return nameNotStorable
      const { tenant, scope } = author
      return write(author, async (transaction, writer) => {
        const names = JSON.stringify(input.seats.filter(isStorable))
        const seats = await transaction.all(queries.seatsByName, { tenant, names, ...visibilityOf(scope) })
        const ids = seatIdsOf(input.seats, new Map(seats.map((row) => [text(row, 'name'), text(row, 'id')])))
        if (isRefusal(ids)) return ids
        if (!(await mayGrant(queries.permissions, transaction, author, seats))) return grantExceedsOwn
        const made = newApiKey(writer, transaction.idTime(), input)
        transaction.record(apiKeyEvent('api_key.create', null, made))
        const { parts, values } = apiKeyInsertion(writer, made, ids)
        const changes = [apiKeyChange(tenant, made.id)]
        return { ...(await transaction.commitAdministrative(parts, changes, values)), value: made }
      })
    },

    revokeApiKey(author, wantedId) {
      const { tenant, scope, now, ifMatch = null } = author
      const id = storableOrEmpty(wantedId)
      return write(author, async (transaction) => {
        const row = await transaction.get(queries.find, { tenant, id, ...visibilityOf(scope) })
        if (row === undefined) return apiKeyNotFound
        const seats = await transaction.all(queries.seatsOf, { tenant, id })
        if (!(await mayGrant(queries.permissions, transaction, author, seats))) return grantExceedsOwn
        const before = apiKey(row)
        if (!matches(ifMatch, apiKeyTag(before))) return preconditionFailed
        recordRevocation(transaction, before, now)
        return { ...(await transaction.commitEffect(revokeApiKeys(tenant, [id], now))), value: null }
      })
    },
  } satisfies Partial<AdminStore>
}

/**
 * Whether the writer may give the Seats to a holder. Permissions are read only if they matter, in batches,
 * until the result is known.
 *
 * @param statement of {@link seatPermissions}
 * @param seats rows with {@link seatColumns}
 */
export async function mayGrant(
  statement: string,
  transaction: Transaction,
  { tenant, scope }: Pick<Writer, 'tenant' | 'scope'>,
  seats: readonly Row[],
): Promise<boolean> {
  const granting = seats.map((row) => ({ spaces: JSON.parse(text(row, 'spaces')), permissions: [] }))
  if (!mayManageKey(scope, granting)) return false
  if (grantsAny(scope)) return true
  for (const ids of batches(seats)) {
    const rows = await transaction.all(statement, { tenant, ids: JSON.stringify(ids) })
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

type NewApiKey = ApiKey & { readonly key: string }

/** 5 bits of each byte are used: 130 random bits. */
const RANDOM_BYTES = 26

/** @param idTime the time part of the id */
export function newApiKey(writer: Writer, idTime: number, input: ApiKeyInput): NewApiKey {
  const { tenant, by, now } = writer
  const { name, seats, expiresAt, owner = null } = input
  const id = ulid(idTime)
  const key = formatApiKey(tenant, id, crockford(randomBytes(RANDOM_BYTES)))
  const times = { createdBy: by, createdAt: now, expiresAt, revokedAt: null, lastUsedAt: null, owner }
  return { id, tenant, name, version: 1, seats, ...times, key }
}

/** @returns the ids of the named Seats in order, or a refusal that lists the unknown names */
function seatIdsOf(
  names: readonly string[],
  idsByName: ReadonlyMap<string, string>,
): readonly string[] | AdminRefusal {
  const unknown = [...names.keys()].filter((at) => !idsByName.has(names[at] ?? ''))
  return unknown.length > 0 ? unknownSeats(unknown) : names.map((name) => idsByName.get(name) ?? '')
}
