/** The shared store: PostgreSQL 13 or later. */

import type { Database, Page } from '../database.ts'
import type { Row } from '../rows.ts'
import { type Statements, statementsOf } from '../statements.ts'
import { storableWriter } from '../storable-text.ts'
import { type Store, type StoreInspection, StoreUnavailable } from '../store.ts'
import { Connection } from './postgres-connection.ts'
import { ConnectionPools, sessionOf } from './connection-pools.ts'
import { unavailable } from './postgres-errors.ts'
import { appliedSteps, migrate, MIGRATIONS } from './postgres-migrations.ts'
import { methodsOf } from '../store-methods.ts'
import { postgres } from './postgres-dialect.ts'
import type { Pool } from './postgres-pool.ts'
import { composed } from './postgres-transaction.ts'
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
   * `postgres://user:password@host:port/database`, with the parameters `sslmode`, `sslrootcert`, `sslcert`,
   * `sslkey` and `application_name`. The schema `seatgate` is created if it is missing. A connection pooler
   * must be in session mode.
   */
  readonly url: string
  /**
   * Connections for reads, as many for administration, and half as many for sign-ins; one more follows the
   * feed. 4 by default.
   */
  readonly pool?: number
  /** Milliseconds until a call rejects with StoreUnavailable; 2,000 by default. */
  readonly timeout?: number | undefined
}

/** Rejects with a StoreUnavailable whose message states the cause, without credentials. */
export async function openPostgresStore({
  url,
  pool = DEFAULT_POOL,
  timeout = DEFAULT_TIMEOUT,
}: PostgresOptions): Promise<Store> {
  const target = targetOf(url)
  // With a longer timeout than calls have.
  await onOwnConnection(target, OPEN_TIMEOUT, (connection) => migrate(connection))
  return storeOf(new ConnectionPools(target, pool, timeout))
}

/**
 * The store while its server may be away. Each call connects by itself; until {@link LateStore.open} has
 * resolved, an older version may have made the schema, or none.
 */
export function latePostgresStore(options: PostgresOptions): LateStore {
  const { url, pool = DEFAULT_POOL, timeout = DEFAULT_TIMEOUT } = options
  const target = targetOf(url)
  return {
    store: storeOf(new ConnectionPools(target, pool, timeout)),
    open: () => onOwnConnection(target, OPEN_TIMEOUT, (connection) => migrate(connection)),
  }
}

export interface LateStore {
  readonly store: Store
  /** Rejects with a StoreUnavailable, and may be called again then. */
  readonly open: () => Promise<void>
}

function targetOf(url: string): Target {
  try {
    return parseUrl(url)
  } catch (cause) {
    throw new StoreUnavailable(`the store cannot be opened: ${(cause as Error).message}`)
  }
}

const IS_READ_ONLY = `SELECT current_setting('transaction_read_only') = 'on' AS read_only`
const READ_ONLY = 'SET default_transaction_read_only = on'
const READ_COUNTER = 'SELECT seq FROM seatgate.counter'
/** `schema`: null where there is no such schema. */
const FIND_RIGHTS = `SELECT has_database_privilege(current_database(), 'CREATE') AS database,
     (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = 'seatgate') AS schema`

/** SQLSTATE insufficient_privilege, read_only_sql_transaction. */
const DENIED = '42501'
const READS_ONLY = '25006'

/**
 * Looks at the store in a database. Each statement reads.
 *
 * @param timeout ms for each answer
 */
export async function inspectPostgresStore(url: string, timeout: number): Promise<StoreInspection> {
  return onOwnConnection(targetOf(url), timeout, async (connection) => {
    await requireWrites(connection)
    await connection.run(READ_ONLY)
    const version = await appliedSteps(connection, MIGRATIONS)
    if (version === null) await requireRightToCreate(connection)
    else await connection.query(READ_COUNTER, {})
    return { version, current: MIGRATIONS.length }
  })
}

/** An administrator may have set it for the server, the database or the role. */
async function requireWrites(connection: Connection): Promise<void> {
  if ((await connection.run(IS_READ_ONLY)).rows[0]?.read_only !== true) return
  throw new StoreUnavailable('it accepts reads only', { fault: 'read_only', code: READS_ONLY })
}

async function requireRightToCreate(connection: Connection): Promise<void> {
  const [rights] = await connection.query(FIND_RIGHTS, {})
  const permitted = rights?.schema ?? rights?.database
  if (permitted === true) return
  throw new StoreUnavailable('the role may not create the tables', { fault: 'denied', code: DENIED })
}

async function onOwnConnection<V>(
  target: Target,
  timeout: number,
  work: (connection: Connection) => Promise<V>,
): Promise<V> {
  const session = sessionOf(timeout)
  const connection = await Connection.open(target, session, requireOwnSession(target, session))
  try {
    return await work(connection)
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

function databaseOf(pools: ConnectionPools): Database {
  const signIns = statementsIn(pools.signIns)
  const lists = statementsIn(pools.administration)
  return {
    dialect: postgres,
    reads: statementsIn(pools.reads),
    lists: { ...lists, page: async (statement, values) => pageOf(await lists.all(statement, values)) },
    unnumbered: {
      ...signIns,
      // The result is no row of those that are changed.
      modify: (parts, result, values) =>
        pools.query(pools.signIns, ...composed(parts, result, values), () => false),
      async unobserved(statement, values) {
        await pools.queryUnobserved(pools.signIns, statement, values)
      },
    },
    write(author, work, patience) {
      const writer = storableWriter(author)
      return pools.write(writer, (transaction) => work(transaction, writer), patience)
    },
  }

  function statementsIn(pool: Pool): Statements {
    return statementsOf((statement, values) => pools.query(pool, statement, values))
  }
}

/** `total`: the number of rows before the page was cut. */
function pageOf(rows: Row[]): Page {
  const total = rows[0]?.total
  return { rows, hasMore: typeof total === 'number' && total > rows.length }
}
