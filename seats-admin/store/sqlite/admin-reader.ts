/** Reads of administration. Run in the lister's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { apiKeyNotFound } from '../../model/refusal.ts'
import {
  administratingKeyValues,
  administratingUserValues,
  administrationQueries,
} from '../administration.ts'
import { blockQueries, blockReads, blocksReading, storedBlock } from '../blocks.ts'
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
import { asOf } from '../point-reads.ts'
import { rangeListing, rangeQueries, type RangeQuery, rangeValues, userRangeQuery } from '../range-queries.ts'
import { apiKey, listedSeat, type Row, user } from '../rows.ts'
import { sessionListing, sessionLists, sessionPageValues } from '../session-list.ts'
import { storableOrEmpty } from '../storable-text.ts'
import type { AdminStore, Listing, Page, UserPage } from '../store.ts'
import { type AuditReads, auditReads } from './audit-reader.ts'
import { seatHolders, seatsPlanner } from './seats-file-reader.ts'
import type { RunningCall, Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'

export type ListerOperations = Synchronous<
  Pick<
    AdminStore,
    | 'readSeat'
    | 'planSeats'
    | 'seatHolders'
    | 'isAdministered'
    | 'listSeats'
    | 'readApiKey'
    | 'listApiKeys'
    | 'readUser'
    | 'listUsers'
    | 'listBlocks'
    | 'listSessions'
  >
> &
  AuditReads

const QUERIES = {
  ...adminQueries(sqlite),
  ...administrationQueries(sqlite),
  blocks: blockReads(sqlite).blocks,
  user: userQuery(sqlite),
  ...blockQueries(sqlite),
  ...sessionLists,
}

export function listerOperations(database: DatabaseSync, running: RunningCall): ListerOperations {
  const statements = prepareAll(database, QUERIES)
  const ranges = prepareAll(database, rangeQueries(sqlite))
  // Each has a part of the same parameters.
  for (const statement of Object.values(ranges)) statement.setAllowUnknownNamedParameters(true)
  return {
    ...auditReads(database, running),
    planSeats: seatsPlanner(database),
    seatHolders: seatHolders(database),
    isAdministered(tenant, administration) {
      const ofKeys = administratingKeyValues(tenant, administration)
      if (statements.administratingKey.get(ofKeys) !== undefined) return true
      const { blocks } = asOf(statements.blocks.get({ tenant }), blocksReading).value
      const ofUsers = administratingUserValues(sqlite, tenant, administration, blocks)
      return statements.administratingUser.get(ofUsers) !== undefined
    },
    readSeat: (tenant, id, scope) =>
      visibleSeat(statements.seat.get({ tenant, id, ...visibilityOf(scope) }), scope),
    listSeats(tenant, page) {
      if (page.grant != null) return ranged('seatsGranting', tenant, page, listedSeat)
      const statement = page.scope.admin ? statements.seats : statements.seatsOfSpaces
      return pageOf(rowsOf(statement, tenant, page), page, listedSeat)
    },
    readApiKey(tenant, id, scope) {
      const row = scope.admin
        ? statements.apiKey.get({ tenant, id })
        : statements.apiKeyOfSpaces.get({ tenant, id, spaces: spacesOf(scope) })
      return row === undefined ? apiKeyNotFound : apiKey(row)
    },
    listBlocks(tenant, { limit, after }) {
      const rows = statements.listBlocks.all({ tenant, after: after ?? '', rows: limit + 1 })
      return { data: rows.slice(0, limit).map(storedBlock), hasMore: rows.length > limit }
    },
    listApiKeys(tenant, page) {
      if (page.grant != null) return ranged('apiKeysGranting', tenant, page, apiKey)
      const statement = page.scope.admin ? statements.apiKeys : statements.apiKeysOfSpaces
      return pageOf(rowsOf(statement, tenant, page), page, apiKey)
    },
    readUser: (tenant, sub, scope) =>
      visibleUser(statements.user.get({ tenant, sub: storableOrEmpty(sub), ...visibilityOf(scope) }), scope),
    listSessions(tenant, page) {
      const statement = page.user === null ? statements.sessions : statements.sessionsOfUser
      return sessionListing(statement.all(sessionPageValues(tenant, page)), page)
    },
    listUsers: (tenant, page) => ranged(userRangeQuery(page), tenant, page, user),
  }

  function ranged<V>(
    query: RangeQuery,
    tenant: string,
    page: UserPage,
    toValue: (row: Row) => V,
  ): Listing<V> {
    const values = rangeValues(tenant, page)
    return rangeListing(values === null ? [] : ranges[query].all(values), toValue)
  }

  /** Reads one row at a time: bounds the memory of a page of large Seats, and stops when the caller has given up. */
  function pageOf<V extends { id: string }>(
    rows: Iterable<Row>,
    { limit }: Page,
    toValue: (row: Row) => V,
  ): Listing<V> {
    const data: V[] = []
    let text = 0
    for (const row of rows) {
      running.throwIfExpired()
      if (data.length === limit || text >= PAGE_TEXT) return listing(data, data.at(-1)?.id ?? null)
      for (const value of Object.values(row)) if (typeof value === 'string') text += value.length
      data.push(toValue(row))
    }
    return listing(data, null)
  }
}

function rowsOf(statement: StatementSync, tenant: string, { limit, after, scope }: Page): Iterable<Row> {
  const parameters = { tenant, after: after ?? '', rows: limit + 1 }
  return statement.iterate(scope.admin ? parameters : { ...parameters, spaces: spacesOf(scope) })
}
