/** The shared store: PostgreSQL 13 or later. */

import type { Position } from '../../model/change.ts'
import type { Scope } from '../../model/scope.ts'
import type { Health } from '../health.ts'
import type { ApiKeyInput, Page, SeatInput, SeatQuestion, Store, Writer } from '../store.ts'
import { StoreUnavailable } from '../store.ts'
import { listApiKeys, listSeats, readApiKey, readSeat } from './admin-reader.ts'
import { createApiKey, refuseApiKey, revokeApiKey } from './api-key-writer.ts'
import { Connection } from './connection.ts'
import { legible } from './dialect.ts'
import { unavailable } from './errors.ts'
import { Lanes, sessionOf } from './lanes.ts'
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

/** Milliseconds until a call is given up. */
const DEFAULT_TIMEOUT = 2000
/** Milliseconds that each step of opening may take: making the tables, or waiting for another instance that does. */
const OPEN_TIMEOUT = 30_000
const DEFAULT_POOL = 4

export interface PostgresOptions {
  /**
   * `postgres://user:password@host:port/database`, with the parameters `sslmode`, `sslrootcert`, `sslcert`, `sslkey`
   * and `application_name`. The schema `seatgate` is made there if it is missing. A pooler in between must keep a
   * session for each connection.
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

/** Rejects with a StoreUnavailable whose message says what is wrong, without a credential in it. */
export async function openPostgresStore({
  url,
  pool = DEFAULT_POOL,
  timeout = DEFAULT_TIMEOUT,
}: PostgresOptions): Promise<Store> {
  const target = targetOf(url)
  await prepare(target)
  return new PostgresStore(new Lanes(target, pool, timeout))
}

function targetOf(url: string): Target {
  try {
    return parseUrl(url)
  } catch (cause) {
    throw new StoreUnavailable(`the store can't be opened: ${(cause as Error).message}`)
  }
}

/** On a connection of its own, which may take its time. */
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
  readonly #lanes: Lanes

  constructor(lanes: Lanes) {
    this.#lanes = lanes
    this.health = lanes.health
    this.registry = new PostgresRegistry(lanes)
    this.sessions = new PostgresSessions(lanes)
  }

  grantByName(tenant: string, name: string, question: SeatQuestion) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => grantByName(connection, tenant, name, question))
  }

  grantById(tenant: string, id: string, question: SeatQuestion) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => grantById(connection, tenant, id, question))
  }

  spacesByName(tenant: string, name: string) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => spacesByName(connection, tenant, name))
  }

  seatByName(tenant: string, name: string) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => seatByName(connection, tenant, name))
  }

  seatById(tenant: string, id: string) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => seatById(connection, tenant, id))
  }

  apiKeyById(tenant: string, id: string) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => apiKeyById(connection, tenant, id))
  }

  changesSince(position: Position | null) {
    return this.#lanes.ask(this.#lanes.reads, (connection) => changesSince(connection, position))
  }

  async createSeat(writer: Writer, seat: SeatInput) {
    const refusal = refuseSeat(writer, seat)
    if (refusal !== null) return refusal
    return this.#lanes.write((transaction) => createSeat(transaction, storable(writer), seat))
  }

  updateSeat(writer: Writer, id: string, patch: Partial<SeatInput>) {
    return this.#lanes.write((transaction) => updateSeat(transaction, storable(writer), id, patch))
  }

  deleteSeat(writer: Writer, id: string) {
    return this.#lanes.write((transaction) => deleteSeat(transaction, writer, id))
  }

  readSeat(tenant: string, id: string, scope: Scope) {
    return this.#lanes.ask(this.#lanes.administration, (connection) =>
      readSeat(connection, tenant, id, scope),
    )
  }

  listSeats(tenant: string, page: Page) {
    return this.#lanes.ask(this.#lanes.administration, (connection) => listSeats(connection, tenant, page))
  }

  async createApiKey(writer: Writer, key: ApiKeyInput) {
    const refusal = refuseApiKey(key)
    if (refusal !== null) return refusal
    return this.#lanes.write((transaction) => createApiKey(transaction, storable(writer), key))
  }

  revokeApiKey(writer: Writer, id: string) {
    return this.#lanes.write((transaction) => revokeApiKey(transaction, writer, id))
  }

  readApiKey(tenant: string, id: string, scope: Scope) {
    return this.#lanes.ask(this.#lanes.administration, (connection) =>
      readApiKey(connection, tenant, id, scope),
    )
  }

  listApiKeys(tenant: string, page: Page) {
    return this.#lanes.ask(this.#lanes.administration, (connection) => listApiKeys(connection, tenant, page))
  }

  async recordMember(tenant: string, user: string, seatIds: readonly string[]) {
    const values = memberValues(tenant, user, seatIds)
    const { administration } = this.#lanes
    if (!(await this.#lanes.ask(administration, (connection) => membersDiffer(connection, values)))) return
    await this.#lanes.write((transaction) => recordMember(transaction, values))
  }

  close(): Promise<void> {
    return this.#lanes.close()
  }
}

/** Who writes is a text of the token's, and may have anything in it. */
function storable(writer: Writer): Writer {
  return { ...writer, by: legible(writer.by) }
}
