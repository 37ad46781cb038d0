/**
 * Writes to sessions with a row in the feed. Each function runs in its own transaction, which holds the counter's lock and
 * locks the session's row before it reads the row.
 */

import type { Committed } from '../../model/change.ts'
import type { Row } from '../rows.ts'
import { renewalValues, sessionOrNull, storedSession } from '../session-rows.ts'
import type { Renewal, Rotation } from '../session-store.ts'
import { END, FIND, mayRenew, outcomeOf, RENEW, sessionChange, USE, type Use } from '../session-writes.ts'
import { type Sql, sql, type Values } from './sql.ts'
import { logged, type Transaction } from './transaction.ts'

const LOCK = sql(`${FIND} FOR UPDATE`)
const HANDLE_USE = sql(USE)
const LOGGED_RENEWAL = logged(`renewed AS (${RENEW}),`)
const LOGGED_END = logged(`ended AS (${END}),`)

/** For a handle that was not valid in a first check. It may have been restored since. */
export async function rotateInTurn(transaction: Transaction, asked: Use): Promise<Rotation> {
  const { tenant, id, now } = asked
  const outcome = outcomeOf(await locked(transaction, tenant, id), asked)
  if (outcome === 'replayed')
    return { outcome, committed: await write(transaction, LOGGED_END, tenant, id, { now }) }
  if (outcome !== 'rotated') return { outcome }
  const [row] = await transaction.query(HANDLE_USE, asked)
  if (row === undefined) throw new Error('the session changed while its row was locked')
  return { outcome, session: storedSession(row) }
}

export async function renewSession(
  transaction: Transaction,
  tenant: string,
  id: string,
  handle: Uint8Array | null,
  renewal: Renewal,
): Promise<Committed | null> {
  if (!mayRenew(sessionOrNull(await locked(transaction, tenant, id)), handle)) return null
  return write(transaction, LOGGED_RENEWAL, tenant, id, renewalValues(renewal))
}

/** Announced each time: the first response may have been lost before all instances applied the change. */
export async function endSession(
  transaction: Transaction,
  tenant: string,
  id: string,
  now: number,
): Promise<Committed | null> {
  if ((await locked(transaction, tenant, id)) === undefined) return null
  return write(transaction, LOGGED_END, tenant, id, { now })
}

async function locked(transaction: Transaction, tenant: string, id: string): Promise<Row | undefined> {
  return (await transaction.query(LOCK, { tenant, id }))[0]
}

function write(
  transaction: Transaction,
  work: Sql,
  tenant: string,
  id: string,
  values: Values,
): Promise<Committed> {
  return transaction.write(work, [sessionChange(tenant, id)], { ...values, tenant, id })
}
