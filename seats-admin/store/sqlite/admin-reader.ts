/** What administration reads. Runs in the reader's thread. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import type { ApiKey } from '../../model/api-key.ts'
import { type AdminRefusal, apiKeyNotFound, seatNotFound } from '../../model/refusal.ts'
import { maySee, maySeeKey, type Scope } from '../../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../../model/seat.ts'
import type { Page } from '../store.ts'
import { API_KEY_COLUMNS, apiKey, keySeats, listedSeat, type Row, SEAT_COLUMNS, storedSeat } from './rows.ts'

const SEATS = `SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = ?1 AND s.id > ?2`
const API_KEYS = `SELECT ${API_KEY_COLUMNS} FROM api_keys k WHERE k.tenant = ?1 AND k.id > ?2`
const PAGE = 'ORDER BY id LIMIT ?3'

/** A key with a Seat of just these spaces and none of others: what `maySeeKey` says of a space's keys. */
const KEY_OF_SPACES = `
  k.id IN (SELECT ks.api_key_id FROM seats s JOIN api_key_seats ks ON ks.tenant = s.tenant AND ks.seat_id = s.id
           WHERE s.tenant = ?1 AND s.spaces = ?4)
  AND NOT EXISTS (SELECT 1 FROM api_key_seats ks JOIN seats s ON s.tenant = ks.tenant AND s.id = ks.seat_id
                  WHERE ks.tenant = ?1 AND ks.api_key_id = k.id AND s.spaces <> ?4)`

/** One more row than the page has is read, to see whether there are more. */
interface Listing<V> {
  data: V[]
  hasMore: boolean
}

export class AdminReader {
  readonly #seat: StatementSync
  readonly #seats: StatementSync
  readonly #seatsOfSpaces: StatementSync
  readonly #apiKey: StatementSync
  readonly #apiKeys: StatementSync
  readonly #apiKeysOfSpaces: StatementSync

  constructor(database: DatabaseSync) {
    this.#seat = database.prepare(`SELECT ${SEAT_COLUMNS} FROM seats s WHERE s.tenant = ? AND s.id = ?`)
    this.#seats = database.prepare(`${SEATS} ${PAGE}`)
    this.#seatsOfSpaces = database.prepare(`${SEATS} AND s.spaces = ?4 ${PAGE}`)
    this.#apiKey = database.prepare(
      `SELECT ${API_KEY_COLUMNS} FROM api_keys k WHERE k.tenant = ? AND k.id = ?`,
    )
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
    return listing(this.#rows(tenant, page, this.#seats, this.#seatsOfSpaces), page, listedSeat)
  }

  readApiKey(tenant: string, id: string, scope: Scope): ApiKey | AdminRefusal {
    const row = this.#apiKey.get(tenant, id)
    if (row === undefined || !maySeeKey(scope, keySeats(row))) return apiKeyNotFound
    return apiKey(row)
  }

  listApiKeys(tenant: string, page: Page): Listing<ApiKey> {
    return listing(this.#rows(tenant, page, this.#apiKeys, this.#apiKeysOfSpaces), page, apiKey)
  }

  #rows(tenant: string, { limit, after, scope }: Page, all: StatementSync, ofSpaces: StatementSync): Row[] {
    const from = after ?? ''
    if (scope.admin) return all.all(tenant, from, limit + 1)
    return ofSpaces.all(tenant, from, limit + 1, JSON.stringify([scope.space]))
  }
}

function listing<V>(rows: readonly Row[], { limit }: Page, made: (row: Row) => V): Listing<V> {
  return { data: rows.slice(0, limit).map(made), hasMore: rows.length > limit }
}
