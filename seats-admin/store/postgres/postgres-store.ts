/** The shared store: PostgreSQL 13 or later. */

import { type Store, StoreUnavailable } from '../store.ts'
import { Connection } from './postgres-connection.ts'
import { ConnectionPools, sessionOf } from './connection-pools.ts'
import { unavailable } from './postgres-errors.ts'
import { migrate } from './postgres-migrations.ts'
import { methodsOf } from '../store-methods.ts'
import { databaseOf } from './postgres-database.ts'
import { registryOf } from './registry.ts'
import { requireOwnSession } from './shared-sessions.ts'
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
  return storeOf(new ConnectionPools(target, pool, timeout))
}

export function targetOf(url: string): Target {
  try {
    return parseUrl(url)
  } catch (cause) {
    throw new StoreUnavailable(`the store cannot be opened: ${(cause as Error).message}`)
  }
}

/** Migrates on a separate connection with a longer timeout. */
async function prepare(target: Target): Promise<void> {
  const session = sessionOf(OPEN_TIMEOUT)
  const connection = await Connection.open(target, session, requireOwnSession(target, session))
  try {
    await migrate(connection)
  } catch (cause) {
    throw unavailable(target.place, cause)
  } finally {
    await connection.close()
  }
}

function storeOf(pools: ConnectionPools): Store {
  return {
    ...methodsOf(databaseOf(pools)),
    registry: registryOf(pools),
    ownership: null,
    health: pools.health,
    close: () => pools.close(),
  }
}
