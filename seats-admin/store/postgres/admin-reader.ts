/** Reads of administration. */

import { apiKeyNotFound } from '../../model/refusal.ts'
import { adminQueries, type Listing, PAGE_TEXT, visibilityOf, spacesOf, visibleSeat } from '../pages.ts'
import { apiKey, integer, listedSeat, type Row } from '../rows.ts'
import type { AdminStore, Page } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { postgres, storableOrEmpty } from './dialect.ts'
import { type Sql, sql, type Values } from './sql.ts'

const queries = adminQueries(postgres)
const SEAT = sql(queries.seat)
const SEATS = pageOf(queries.seats, 'octet_length(p.spaces) + octet_length(p.permissions)')
const SEATS_OF_SPACES = pageOf(queries.seatsOfSpaces, 'octet_length(p.spaces) + octet_length(p.permissions)')
const API_KEY = sql(queries.apiKey)
const API_KEY_OF_SPACES = sql(queries.apiKeyOfSpaces)
const API_KEYS = pageOf(queries.apiKeys, 'octet_length(p.seats)')
const API_KEYS_OF_SPACES = pageOf(queries.apiKeysOfSpaces, 'octet_length(p.seats)')

/** The server ends a page by the size of the preceding rows, so that it never sends a page of only large Seats. */
function pageOf(rows: string, size: string): Sql {
  return sql(`SELECT * FROM (
      SELECT p.*, count(*) OVER () AS found, sum(${size}) OVER (ORDER BY p.id) - (${size}) AS before FROM (${rows}) p
    ) q WHERE q.before < ${PAGE_TEXT} ORDER BY q.id LIMIT :limit`)
}

export function adminReaderOf(
  pools: ConnectionPools,
): Pick<AdminStore, 'readSeat' | 'readApiKey' | 'listSeats' | 'listApiKeys'> {
  const query = (question: Sql, values: Values) => pools.query(pools.administration, question, values)
  return {
    async readSeat(tenant, id, scope) {
      const values = { tenant, id: storableOrEmpty(id), ...visibilityOf(scope) }
      return visibleSeat((await query(SEAT, values))[0], scope)
    },
    async readApiKey(tenant, id, scope) {
      const values = { tenant, id: storableOrEmpty(id), spaces: spacesOf(scope) }
      const [row] = await query(scope.admin ? API_KEY : API_KEY_OF_SPACES, values)
      return row === undefined ? apiKeyNotFound : apiKey(row)
    },
    async listSeats(tenant, page) {
      const question = page.scope.admin ? SEATS : SEATS_OF_SPACES
      return listing(await query(question, valuesOf(tenant, page)), listedSeat)
    },
    async listApiKeys(tenant, page) {
      const question = page.scope.admin ? API_KEYS : API_KEYS_OF_SPACES
      return listing(await query(question, valuesOf(tenant, page)), apiKey)
    },
  }
}

function valuesOf(tenant: string, { limit, after, scope }: Page) {
  return { tenant, after: storableOrEmpty(after ?? ''), limit, rows: limit + 1, spaces: spacesOf(scope) }
}

/** `found`: number of rows before the page was cut, at most limit + 1. */
function listing<V>(rows: readonly Row[], toValue: (row: Row) => V): Listing<V> {
  const [first] = rows
  return { data: rows.map(toValue), hasMore: first !== undefined && integer(first, 'found') > rows.length }
}
