/** Looks at the store in a database. Each statement reads. */

import { type StoreInspection, StoreUnavailable } from '../store.ts'
import { Connection } from './postgres-connection.ts'
import { sessionOf } from './connection-pools.ts'
import { unavailable } from './postgres-errors.ts'
import { appliedSteps, MIGRATIONS } from './postgres-migrations.ts'
import { requireOwnSession } from './shared-sessions.ts'
import { sql } from './sql.ts'
import { targetOf } from './postgres-store.ts'

const READ_ONLY = 'SET default_transaction_read_only = on'
const READ_COUNTER = sql('SELECT seq FROM seatgate.counter')
/** `schema`: null where there is no such schema. */
const FIND_RIGHTS = sql(
  `SELECT has_database_privilege(current_database(), 'CREATE') AS database,
     (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = 'seatgate') AS schema`,
)

/** SQLSTATE insufficient_privilege. */
const DENIED = '42501'

/** @param timeout ms for each answer */
export async function inspectPostgresStore(url: string, timeout: number): Promise<StoreInspection> {
  const target = targetOf(url)
  const session = sessionOf(timeout)
  const connection = await Connection.open(target, session, requireOwnSession(target, session))
  try {
    await connection.run(READ_ONLY)
    const version = await appliedSteps(connection, MIGRATIONS)
    if (version === null) await requireRightToCreate(connection)
    else await connection.query(READ_COUNTER, {})
    return { version, current: MIGRATIONS.length }
  } catch (cause) {
    throw unavailable(target.place, cause)
  } finally {
    await connection.close()
  }
}

async function requireRightToCreate(connection: Connection): Promise<void> {
  const [found] = await connection.query(FIND_RIGHTS, {})
  const permitted = found?.schema ?? found?.database
  if (permitted === true) return
  throw new StoreUnavailable('the role may not create the tables', { fault: 'denied', code: DENIED })
}
