/** The shared store: PostgreSQL 13 or later. */

import type { Position } from '../../model/change.ts'
import type { Scope } from '../../model/scope.ts'
import type { Health } from '../health.ts'
import type { ApiKeyInput, Page, SeatInput, SeatQuestion, Store, Writer } from '../store.ts'
import { StoreUnavailable } from '../store.ts'
import { listApiKeys, listSeats, readApiKey, readSeat } from './admin-reader.ts'
import { createApiKey, refuseApiKey, revokeApiKey } from './api-key-writer.ts'
import { Connection } from './connection.ts'
import { replaceUnstorable } from './dialect.ts'
import { unavailable } from './errors.ts'
import { ConnectionPools, sessionOf } from './connection-pools.ts'
import { memberValues, membersDiffer, recordMember } from './member-writer.ts'
import { migrate } from './migrations.ts'
import {
  apiKeyById,
  changesSince,
  grantById,
  grantByName,
  seatById,
  seatByName,
  spacesByName,
} from './reader.ts'
import { PostgresRegistry } from './registry.ts'
import { createSeat, deleteSeat, refuseSeat, updateSeat } from './seat-writer.ts'
import { PostgresSessions } from './sessions.ts'
import { parseUrl, type Target } from './url.ts'

/** Milliseconds until a call rejects. */
const DEFAULT_TIMEOUT = 2000
/** Milliseconds for each step of opening: creating the tables, or waiting for another instance that does. */
const OPEN_TIMEOUT = 30_000
const DEFAULT_POOL = 4

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database`, with the parameters `sslmode`, `sslrootcert`, `sslcert`, `sslkey`
   * and `application_name`. The schema `seatgate` is created if it is missing. A connection pooler must
   * be in session mode.
   */
  readonly url: string
  /**
   * Connections for reads, as many for administration, and half as many for sign-ins; one more follows the feed. 4 by
   * default.
   */
  readonly pool?: number
  /** Milliseconds until a call rejects with StoreUnavailable. */
  readonly timeout?: number
}

/** Rejects with a StoreUnavailable whose message states the cause, without credentials. */
export async function openPostgresStore({
  url,
  pool = DEFAULT_POOL,
  timeout = DEFAULT_TIMEOUT,
}: PostgresOptions): Promise<Store> {
  const target = targetOf(url)
  await prepare(target)
  return new PostgresStore(new ConnectionPools(target, pool, timeout))
}

function targetOf(url: string): Target {
  try {
    return parseUrl(url)
  } catch (cause) {
    throw new StoreUnavailable(`the store cannot be opened: ${(cause as Error).message}`)
  }
}

/** Migrates on a separate connection with a longer timeout. */
async function prepare(target: Target): Promise<void> {
  const connection = await Connection.open(target, sessionOf(OPEN_TIMEOUT))
  try {
    await migrate(connection)
  } catch (cause) {
    throw unavailable(target.place, cause)
  } finally {
    await connection.close()
  }
}

class PostgresStore implements Store {
  readonly registry: PostgresRegistry
  readonly ownership = null
  readonly health: Health
  readonly sessions: PostgresSessions
  readonly #pools: ConnectionPools

  constructor(pools: ConnectionPools) {
    this.#pools = pools
    this.health = pools.health
    this.registry = new PostgresRegistry(pools)
    this.sessions = new PostgresSessions(pools)
  }

  grantByName(tenant: string, name: string, question: SeatQuestion) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) =>
      grantByName(connection, tenant, name, question),
    )
  }

  grantById(tenant: string, id: string, question: SeatQuestion) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) =>
      grantById(connection, tenant, id, question),
    )
  }

  spacesByName(tenant: string, name: string) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) => spacesByName(connection, tenant, name))
  }

  seatByName(tenant: string, name: string) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) => seatByName(connection, tenant, name))
  }

  seatById(tenant: string, id: string) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) => seatById(connection, tenant, id))
  }

  apiKeyById(tenant: string, id: string) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) => apiKeyById(connection, tenant, id))
  }

  changesSince(position: Position | null) {
    return this.#pools.runRetryable(this.#pools.reads, (connection) => changesSince(connection, position))
  }

  async createSeat(writer: Writer, seat: SeatInput) {
    const refusal = refuseSeat(writer, seat)
    if (refusal !== null) return refusal
    return this.#pools.write((transaction) => createSeat(transaction, storable(writer), seat))
  }

  updateSeat(writer: Writer, id: string, patch: Partial<SeatInput>) {
    return this.#pools.write((transaction) => updateSeat(transaction, storable(writer), id, patch))
  }

  deleteSeat(writer: Writer, id: string) {
    return this.#pools.write((transaction) => deleteSeat(transaction, writer, id))
  }

  readSeat(tenant: string, id: string, scope: Scope) {
    return this.#pools.runRetryable(this.#pools.administration, (connection) =>
      readSeat(connection, tenant, id, scope),
    )
  }

  listSeats(tenant: string, page: Page) {
    return this.#pools.runRetryable(this.#pools.administration, (connection) =>
      listSeats(connection, tenant, page),
    )
  }

  async createApiKey(writer: Writer, key: ApiKeyInput) {
    const refusal = refuseApiKey(key)
    if (refusal !== null) return refusal
    return this.#pools.write((transaction) => createApiKey(transaction, storable(writer), key))
  }

  revokeApiKey(writer: Writer, id: string) {
    return this.#pools.write((transaction) => revokeApiKey(transaction, writer, id))
  }

  readApiKey(tenant: string, id: string, scope: Scope) {
    return this.#pools.runRetryable(this.#pools.administration, (connection) =>
      readApiKey(connection, tenant, id, scope),
    )
  }

  listApiKeys(tenant: string, page: Page) {
    return this.#pools.runRetryable(this.#pools.administration, (connection) =>
      listApiKeys(connection, tenant, page),
    )
  }

  async recordMember(tenant: string, user: string, seatIds: readonly string[]) {
    const values = memberValues(tenant, user, seatIds)
    const { administration } = this.#pools
    if (!(await this.#pools.runRetryable(administration, (connection) => membersDiffer(connection, values))))
      return
    await this.#pools.write((transaction) => recordMember(transaction, values))
  }

  close(): Promise<void> {
    return this.#pools.close()
  }
}

/** `by` is from a token and may contain any character. */
function storable(writer: Writer): Writer {
  return { ...writer, by: replaceUnstorable(writer.by) }
}
