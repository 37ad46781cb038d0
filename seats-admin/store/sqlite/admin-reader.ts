/** What administration reads. Runs in the lister's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound } from '../../model/refusal.ts'
import type { Scope } from '../../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../../model/seat.ts'
import { adminQuestions, type Listing, PAGE_TEXT, spacesOf, seenBy, visibleSeat } from '../pages.ts'
import { apiKey, listedSeat, type Row } from '../rows.ts'
import type { Page } from '../store.ts'
import type { Running } from './calls.ts'
import { sqlite } from './dialect.ts'

const questions = adminQuestions(sqlite)

export class AdminReader {
  readonly #running: Running
  readonly #seat: StatementSync
  readonly #seats: StatementSync
  readonly #seatsOfSpaces: StatementSync
  readonly #apiKey: StatementSync
  readonly #apiKeyOfSpaces: StatementSync
  readonly #apiKeys: StatementSync
  readonly #apiKeysOfSpaces: StatementSync

  constructor(database: DatabaseSync, running: Running) {
    this.#running = running
    this.#seat = database.prepare(questions.seat)
    this.#seats = database.prepare(questions.seats)
    this.#seatsOfSpaces = database.prepare(questions.seatsOfSpaces)
    this.#apiKey = database.prepare(questions.apiKey)
    this.#apiKeyOfSpaces = database.prepare(questions.apiKeyOfSpaces)
    this.#apiKeys = database.prepare(questions.apiKeys)
    this.#apiKeysOfSpaces = database.prepare(questions.apiKeysOfSpaces)
  }

  readSeat(tenant: string, id: string, scope: Scope): StoredSeat | AdminRefusal {
    return visibleSeat(this.#seat.get({ tenant, id, ...seenBy(scope) }), scope)
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
    const asked = { tenant, after: after ?? '', rows: limit + 1 }
    return scope.admin ? all.iterate(asked) : ofSpaces.iterate({ ...asked, spaces: spacesOf(scope) })
  }

  /** One row at a time: a page of the largest Seats never stands in memory as a whole, nor is read for nobody. */
  #listing<V>(rows: Iterable<Row>, { limit }: Page, made: (row: Row) => V): Listing<V> {
    const data: V[] = []
    let text = 0
    for (const row of rows) {
      this.#running.timely()
      if (data.length === limit || text >= PAGE_TEXT) return { data, hasMore: true }
      for (const value of Object.values(row)) if (typeof value === 'string') text += value.length
      data.push(made(row))
    }
    return { data, hasMore: false }
  }
}
