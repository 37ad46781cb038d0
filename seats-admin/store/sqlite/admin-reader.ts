/** What administration reads. Runs in the lister's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound, seatNotFound } from '../../model/refusal.ts'
import { maySee, type Scope } from '../../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../../model/seat.ts'
import type { Page } from '../store.ts'
import type { Running } from './calls.ts'
import { API_KEY_COLUMNS, apiKey, listedSeat, type Row, SEAT_COLUMNS, storedSeat } from './rows.ts'

const SEATS = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = :tenant AND s.id > :after`
const API_KEYS = `SELECT ${API_KEY_COLUMNS} FROM api_keys k WHERE k.tenant = :tenant AND k.id > :after`
/** One more row than the page has, to see whether there are more. */
const PAGE = 'ORDER BY id LIMIT :rows'

/**
 * The API keys that are seen outside the admin space: those with Seats, all of just this space. The Seats of the space
 * are looked up in the index, once: reading what others hold in `spaces` could take a megabyte a Seat.
 */
const KEY_OF_SPACES = `
  k.id IN (SELECT ks.api_key_id FROM seats s JOIN api_key_seats ks ON ks.tenant = s.tenant AND ks.seat_id = s.id
           WHERE s.tenant = :tenant AND s.spaces = :spaces)
  AND NOT EXISTS (SELECT 1 FROM api_key_seats ks WHERE ks.tenant = :tenant AND ks.api_key_id = k.id
                  AND ks.seat_id NOT IN (SELECT id FROM seats WHERE tenant = :tenant AND spaces = :spaces))`

/** Characters of row text after which a page ends: what is made of it passes through the gateway's one event loop. */
const PAGE_TEXT = 4 * 1024 * 1024

interface Listing<V> {
  data: V[]
  hasMore: boolean
}

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
    this.#seat = database.prepare(`SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = ? AND s.id = ?`)
    this.#seats = database.prepare(`${SEATS} ${PAGE}`)
    this.#seatsOfSpaces = database.prepare(`${SEATS} AND s.spaces = :spaces ${PAGE}`)
    const key = `SELECT ${API_KEY_COLUMNS} FROM api_keys k WHERE k.tenant = :tenant AND k.id = :id`
    this.#apiKey = database.prepare(key)
    this.#apiKeyOfSpaces = database.prepare(`${key} AND ${KEY_OF_SPACES}`)
    this.#apiKeys = database.prepare(`${API_KEYS} ${PAGE}`)
    this.#apiKeysOfSpaces = database.prepare(`${API_KEYS} AND ${KEY_OF_SPACES} ${PAGE}`)
  }

  readSeat(tenant: string, id: string, scope: Scope): StoredSeat | AdminRefusal {
    const row = this.#seat.get(tenant, id)
    if (row === undefined) return seatNotFound
    const seat = storedSeat(row)
    return maySee(scope, seat.spaces) ? seat : seatNotFound
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

/** As they are written in the column. */
function spacesOf({ space }: Scope): string {
  return JSON.stringify([space])
}
