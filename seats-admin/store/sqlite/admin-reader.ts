/** Reads of administration. Runs in the lister's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound } from '../../model/refusal.ts'
import type { Scope } from '../../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../../model/seat.ts'
import { adminQueries, type Listing, PAGE_TEXT, spacesOf, visibilityOf, visibleSeat } from '../pages.ts'
import { apiKey, listedSeat, type Row } from '../rows.ts'
import type { Page } from '../store.ts'
import type { RunningCall } from './calls.ts'
import { sqlite } from './dialect.ts'

const queries = adminQueries(sqlite)

export class AdminReader {
  readonly #running: RunningCall
  readonly #seat: StatementSync
  readonly #seats: StatementSync
  readonly #seatsOfSpaces: StatementSync
  readonly #apiKey: StatementSync
  readonly #apiKeyOfSpaces: StatementSync
  readonly #apiKeys: StatementSync
  readonly #apiKeysOfSpaces: StatementSync

  constructor(database: DatabaseSync, running: RunningCall) {
    this.#running = running
    this.#seat = database.prepare(queries.seat)
    this.#seats = database.prepare(queries.seats)
    this.#seatsOfSpaces = database.prepare(queries.seatsOfSpaces)
    this.#apiKey = database.prepare(queries.apiKey)
    this.#apiKeyOfSpaces = database.prepare(queries.apiKeyOfSpaces)
    this.#apiKeys = database.prepare(queries.apiKeys)
    this.#apiKeysOfSpaces = database.prepare(queries.apiKeysOfSpaces)
  }

  readSeat(tenant: string, id: string, scope: Scope): StoredSeat | AdminRefusal {
    return visibleSeat(this.#seat.get({ tenant, id, ...visibilityOf(scope) }), scope)
  }

  listSeats(tenant: string, page: Page): Listing<ListedSeat> {
    return this.#listing(this.#rows(tenant, page, this.#seats, this.#seatsOfSpaces), page, listedSeat)
  }

  readApiKey(tenant: string, id: string, scope: Scope): ApiKey | AdminRefusal {
    const row = scope.admin
      ? this.#apiKey.get({ tenant, id })
      : this.#apiKeyOfSpaces.get({ tenant, id, spaces: spacesOf(scope) })
    return row === undefined ? apiKeyNotFound : apiKey(row)
  }

  listApiKeys(tenant: string, page: Page): Listing<ApiKey> {
    return this.#listing(this.#rows(tenant, page, this.#apiKeys, this.#apiKeysOfSpaces), page, apiKey)
  }

  #rows(tenant: string, page: Page, all: StatementSync, ofSpaces: StatementSync): Iterable<Row> {
    const { limit, after, scope } = page
    const parameters = { tenant, after: after ?? '', rows: limit + 1 }
    return scope.admin
      ? all.iterate(parameters)
      : ofSpaces.iterate({ ...parameters, spaces: spacesOf(scope) })
  }

  /** Reads one row at a time: bounds the memory of a page of large Seats, and stops when the caller has given up. */
  #listing<V>(rows: Iterable<Row>, { limit }: Page, toValue: (row: Row) => V): Listing<V> {
    const data: V[] = []
    let text = 0
    for (const row of rows) {
      this.#running.throwIfExpired()
      if (data.length === limit || text >= PAGE_TEXT) return { data, hasMore: true }
      for (const value of Object.values(row)) if (typeof value === 'string') text += value.length
      data.push(toValue(row))
    }
    return { data, hasMore: false }
  }
}
