/** Reads of administration. */

import { apiKeyNotFound } from '../../model/refusal.ts'
import {
  adminQueries,
  listing,
  PAGE_TEXT,
  spacesOf,
  userQuery,
  visibilityOf,
  visibleSeat,
  visibleUser,
} from '../pages.ts'
import { rangeListing, rangeQueries, type RangeQuery, rangeValues, userRangeQuery } from '../range-queries.ts'
import { apiKey, integer, listedSeat, type Row, user } from '../rows.ts'
import { sessionListing, sessionLists, sessionPageValues } from '../session-list.ts'
import { storableOrEmpty } from '../storable-text.ts'
import type { AdminStore, Listing, Page, UserPage } from '../store.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { postgres } from './dialect.ts'
import { type Sql, sql, type Values } from './sql.ts'

const queries = adminQueries(postgres)
const SEAT = sql(queries.seat)
const SEATS = pageOf(queries.seats, 'octet_length(p.spaces) + octet_length(p.permissions)')
const SEATS_OF_SPACES = pageOf(queries.seatsOfSpaces, 'octet_length(p.spaces) + octet_length(p.permissions)')
const API_KEY = sql(queries.apiKey)
const API_KEY_OF_SPACES = sql(queries.apiKeyOfSpaces)
const API_KEYS = pageOf(queries.apiKeys, 'octet_length(p.seats)')
const API_KEYS_OF_SPACES = pageOf(queries.apiKeysOfSpaces, 'octet_length(p.seats)')
const USER = sql(userQuery(postgres))
const RANGES = Object.fromEntries(
  Object.entries(rangeQueries(postgres)).map(([name, text]) => [name, sql(text)]),
) as Readonly<Record<RangeQuery, Sql>>

const SESSIONS = sql(sessionLists.sessions)
const SESSIONS_OF_USER = sql(sessionLists.sessionsOfUser)

/** The server ends a page by the size of the preceding rows, so that it never sends a page of only large Seats. */
function pageOf(rows: string, size: string): Sql {
  return sql(`SELECT * FROM (
      SELECT p.*, count(*) OVER () AS found, sum(${size}) OVER (ORDER BY p.id) - (${size}) AS before FROM (${rows}) p
    ) q WHERE q.before < ${PAGE_TEXT} ORDER BY q.id LIMIT :limit`)
}

export function adminReaderOf(
  pools: ConnectionPools,
): Pick<
  AdminStore,
  'readSeat' | 'readApiKey' | 'readUser' | 'listSeats' | 'listApiKeys' | 'listUsers' | 'listSessions'
> {
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
    async readUser(tenant, sub, scope) {
      const values = { tenant, sub: storableOrEmpty(sub), ...visibilityOf(scope) }
      return visibleUser((await query(USER, values))[0], scope)
    },
    async listSeats(tenant, page) {
      if (page.grant != null) return ranged('seatsGranting', tenant, page, listedSeat)
      const question = page.scope.admin ? SEATS : SEATS_OF_SPACES
      return pageOfRows(await query(question, valuesOf(tenant, page)), listedSeat)
    },
    async listApiKeys(tenant, page) {
      if (page.grant != null) return ranged('apiKeysGranting', tenant, page, apiKey)
      const question = page.scope.admin ? API_KEYS : API_KEYS_OF_SPACES
      return pageOfRows(await query(question, valuesOf(tenant, page)), apiKey)
    },
    async listSessions(tenant, page) {
      const question = page.user === null ? SESSIONS : SESSIONS_OF_USER
      const values = sessionPageValues(tenant, { ...page, after: storableOrEmpty(page.after ?? '') })
      return sessionListing(await query(question, values), page)
    },
    listUsers: (tenant, page) => ranged(userRangeQuery(page), tenant, page, user),
  }

  async function ranged<V>(
    name: RangeQuery,
    tenant: string,
    page: UserPage,
    toValue: (row: Row) => V,
  ): Promise<Listing<V>> {
    const values = rangeValues(tenant, page)
    return rangeListing(values === null ? [] : await query(RANGES[name], values), toValue)
  }
}

function valuesOf(tenant: string, { limit, after, scope }: Page) {
  return { tenant, after: storableOrEmpty(after ?? ''), limit, rows: limit + 1, spaces: spacesOf(scope) }
}

/** `found`: number of rows before the page was cut, at most limit + 1. */
function pageOfRows<V extends { id: string }>(rows: readonly Row[], toValue: (row: Row) => V): Listing<V> {
  const [first] = rows
  const data = rows.map(toValue)
  const more = first !== undefined && integer(first, 'found') > rows.length
  return listing(data, more ? (data.at(-1)?.id ?? null) : null)
}
