/** Reads of administration. Run in the lister's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { apiKeyNotFound } from '../../model/refusal.ts'
import { adminQueries, type Listing, PAGE_TEXT, spacesOf, visibilityOf, visibleSeat } from '../pages.ts'
import { apiKey, listedSeat, type Row } from '../rows.ts'
import type { AdminStore, Page } from '../store.ts'
import type { RunningCall, Synchronous } from './calls.ts'
import { prepareAll } from './connection.ts'
import { sqlite } from './dialect.ts'

export type ListerOperations = Synchronous<
  Pick<AdminStore, 'readSeat' | 'listSeats' | 'readApiKey' | 'listApiKeys'>
>

const QUERIES = adminQueries(sqlite)

export function listerOperations(database: DatabaseSync, running: RunningCall): ListerOperations {
  const { seat, seats, seatsOfSpaces, ...keys } = prepareAll(database, QUERIES)
  return {
    readSeat: (tenant, id, scope) => visibleSeat(seat.get({ tenant, id, ...visibilityOf(scope) }), scope),
    listSeats: (tenant, page) =>
      listing(rowsOf(page.scope.admin ? seats : seatsOfSpaces, tenant, page), page, listedSeat),
    readApiKey(tenant, id, scope) {
      const row = scope.admin
        ? keys.apiKey.get({ tenant, id })
        : keys.apiKeyOfSpaces.get({ tenant, id, spaces: spacesOf(scope) })
      return row === undefined ? apiKeyNotFound : apiKey(row)
    },
    listApiKeys: (tenant, page) =>
      listing(rowsOf(page.scope.admin ? keys.apiKeys : keys.apiKeysOfSpaces, tenant, page), page, apiKey),
  }

  /** Reads one row at a time: bounds the memory of a page of large Seats, and stops when the caller has given up. */
  function listing<V>(rows: Iterable<Row>, { limit }: Page, toValue: (row: Row) => V): Listing<V> {
    const data: V[] = []
    let text = 0
    for (const row of rows) {
      running.throwIfExpired()
      if (data.length === limit || text >= PAGE_TEXT) return { data, hasMore: true }
      for (const value of Object.values(row)) if (typeof value === 'string') text += value.length
      data.push(toValue(row))
    }
    return { data, hasMore: false }
  }
}

function rowsOf(statement: StatementSync, tenant: string, { limit, after, scope }: Page): Iterable<Row> {
  const parameters = { tenant, after: after ?? '', rows: limit + 1 }
  return statement.iterate(scope.admin ? parameters : { ...parameters, spaces: spacesOf(scope) })
}
