/** The embedded store: an SQLite file, accessed by three threads. */

import { resolve } from 'node:path'
import type { Position } from '../../model/change.ts'
import type { Scope } from '../../model/scope.ts'
import type { ApiKeyInput, Ownership, Page, SeatInput, SeatQuestion, Store, Writer } from '../store.ts'
import type { Health } from '../health.ts'
import type { Owner } from './calls.ts'
import { SqliteSessions } from './sessions.ts'
import { Threads } from './threads.ts'

/** Milliseconds until a call rejects. */
const DEFAULT_TIMEOUT = 2000

export interface SqliteOptions {
  /** The database file. A missing file or folder is created; a file that is not a store is refused. */
  readonly path: string
  /** Milliseconds until a call rejects with StoreUnavailable. */
  readonly timeout?: number
  /** Set by a process of a gateway, which decides on this store only as its owner. */
  readonly owner?: Owner
}

/** Rejects with a StoreUnavailable whose message states the fault. */
export async function openSqliteStore(options: SqliteOptions): Promise<Store> {
  const { path, timeout = DEFAULT_TIMEOUT, owner = null } = options
  const threads = new Threads(resolve(path), timeout, owner)
  try {
    await threads.open()
    return new SqliteStore(threads, owner)
  } catch (cause) {
    await threads.close()
    throw cause
  }
}

class SqliteStore implements Store {
  readonly registry = null
  readonly sessions: SqliteSessions
  readonly ownership: Ownership | null
  readonly health: Health
  readonly #threads: Threads
  /** The reader's start count at the last feed reading. */
  #followed = 1

  constructor(threads: Threads, owner: Owner | null) {
    this.#threads = threads
    this.health = threads.health
    const { alone, supersession } = threads
    this.ownership = owner === null ? null : { alone, superseded: supersession }
    this.sessions = new SqliteSessions(threads)
  }

  grantByName(tenant: string, name: string, question: SeatQuestion) {
    return this.#threads.reader.call('grantByName', tenant, name, question)
  }

  grantById(tenant: string, id: string, question: SeatQuestion) {
    return this.#threads.reader.call('grantById', tenant, id, question)
  }

  spacesByName(tenant: string, name: string) {
    return this.#threads.reader.call('spacesByName', tenant, name)
  }

  seatByName(tenant: string, name: string) {
    return this.#threads.reader.call('seatByName', tenant, name)
  }

  seatById(tenant: string, id: string) {
    return this.#threads.reader.call('seatById', tenant, id)
  }

  apiKeyById(tenant: string, id: string) {
    return this.#threads.reader.call('apiKeyById', tenant, id)
  }

  /**
   * A restarted thread may have opened another file. Its marks would show that; to be safe, the memory is also cleared
   * once. A reading from null has no earlier state.
   */
  async changesSince(position: Position | null) {
    const found = await this.#threads.reader.call('changesSince', position)
    const { starts } = this.#threads.reader
    if (position === null || starts === this.#followed) return found
    this.#followed = starts
    return { head: found.head, changes: null }
  }

  createSeat(writer: Writer, seat: SeatInput) {
    return this.#threads.writer.call('createSeat', writer, seat)
  }

  updateSeat(writer: Writer, id: string, patch: Partial<SeatInput>) {
    return this.#threads.writer.call('updateSeat', writer, id, patch)
  }

  deleteSeat(writer: Writer, id: string) {
    return this.#threads.writer.call('deleteSeat', writer, id)
  }

  readSeat(tenant: string, id: string, scope: Scope) {
    return this.#threads.lister.call('readSeat', tenant, id, scope)
  }

  listSeats(tenant: string, page: Page) {
    return this.#threads.lister.call('listSeats', tenant, page)
  }

  createApiKey(writer: Writer, key: ApiKeyInput) {
    return this.#threads.writer.call('createApiKey', writer, key)
  }

  revokeApiKey(writer: Writer, id: string) {
    return this.#threads.writer.call('revokeApiKey', writer, id)
  }

  readApiKey(tenant: string, id: string, scope: Scope) {
    return this.#threads.lister.call('readApiKey', tenant, id, scope)
  }

  listApiKeys(tenant: string, page: Page) {
    return this.#threads.lister.call('listApiKeys', tenant, page)
  }

  recordMember(tenant: string, user: string, seatIds: readonly string[]) {
    return this.#threads.writer.call('recordMember', tenant, user, seatIds)
  }

  close(): Promise<void> {
    return this.#threads.close()
  }
}
