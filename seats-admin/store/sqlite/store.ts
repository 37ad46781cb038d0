/** The embedded store: SQLite in a file, behind two threads. Opened through `seats-admin/index.ts`. */

import { resolve } from 'node:path'
import type { Scope } from '../../model/scope.ts'
import type { ApiKeyInput, Page, SeatInput, Store, Writer } from '../store.ts'
import type { ReaderOperations, WriterOperations } from './operations.ts'
import { Thread } from './thread.ts'

/** Milliseconds until a call is given up. */
const DEFAULT_TIMEOUT = 2000
/** Milliseconds that opening may take: making or migrating the file, recovery of its log, the check of all pages. */
const OPEN_TIMEOUT = 30_000

export interface SqliteOptions {
  /** The database file. It and its folder are made if they are missing; anything else that is there is refused. */
  readonly path: string
  /** Milliseconds until a call rejects with StoreUnavailable. */
  readonly timeout?: number
}

/** Rejects with a StoreUnavailable whose message says what is wrong with the file. */
export async function openSqliteStore({ path, timeout = DEFAULT_TIMEOUT }: SqliteOptions): Promise<Store> {
  const shared = { path: resolve(path), busyTimeout: timeout }
  const writer = new Thread<WriterOperations>({ ...shared, role: 'writer', opening: true }, timeout)
  const reader = new Thread<ReaderOperations>({ ...shared, role: 'reader', opening: false }, timeout)
  const store = new SqliteStore(reader, writer)
  try {
    await writer.open(OPEN_TIMEOUT)
    await reader.open(OPEN_TIMEOUT)
    return store
  } catch (cause) {
    await store.close()
    throw cause
  }
}

class SqliteStore implements Store {
  readonly #reader: Thread<ReaderOperations>
  readonly #writer: Thread<WriterOperations>
  /** Of the reader's starts, the one whose feed has been read last. */
  #followed = 1

  constructor(reader: Thread<ReaderOperations>, writer: Thread<WriterOperations>) {
    this.#reader = reader
    this.#writer = writer
  }

  seatByName(tenant: string, name: string) {
    return this.#reader.call('seatByName', tenant, name)
  }

  seatById(tenant: string, id: string) {
    return this.#reader.call('seatById', tenant, id)
  }

  apiKeyById(tenant: string, id: string) {
    return this.#reader.call('apiKeyById', tenant, id)
  }

  /** A thread that was started anew may have found another file, whose numbers say nothing of what was read before. */
  async changesSince(seq: number) {
    const found = await this.#reader.call('changesSince', seq)
    const { starts } = this.#reader
    if (starts === this.#followed) return found
    this.#followed = starts
    return { seq: found.seq, changes: null }
  }

  createSeat(writer: Writer, seat: SeatInput) {
    return this.#writer.call('createSeat', writer, seat)
  }

  updateSeat(writer: Writer, id: string, patch: Partial<SeatInput>) {
    return this.#writer.call('updateSeat', writer, id, patch)
  }

  deleteSeat(writer: Writer, id: string) {
    return this.#writer.call('deleteSeat', writer, id)
  }

  readSeat(tenant: string, id: string, scope: Scope) {
    return this.#reader.call('readSeat', tenant, id, scope)
  }

  listSeats(tenant: string, page: Page) {
    return this.#reader.call('listSeats', tenant, page)
  }

  createApiKey(writer: Writer, key: ApiKeyInput) {
    return this.#writer.call('createApiKey', writer, key)
  }

  revokeApiKey(writer: Writer, id: string) {
    return this.#writer.call('revokeApiKey', writer, id)
  }

  readApiKey(tenant: string, id: string, scope: Scope) {
    return this.#reader.call('readApiKey', tenant, id, scope)
  }

  listApiKeys(tenant: string, page: Page) {
    return this.#reader.call('listApiKeys', tenant, page)
  }

  recordMember(tenant: string, user: string, seatIds: readonly string[]) {
    return this.#writer.call('recordMember', tenant, user, seatIds)
  }

  /** The writer goes last: it writes the log back into the file. */
  async close(): Promise<void> {
    await this.#reader.close()
    await this.#writer.close()
  }
}
