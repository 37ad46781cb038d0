/**
 * Transactions. Each locks the single counter row before it reads anything, so that writers of a deployment
 * are serialized.
 */

import { escapeLiteral } from 'pg'
import { isRefusal } from '../../model/refusal.ts'
import { UrgentShare } from '../../model/time-share.ts'
import { type Insertion, type Part, replaceParameters, statementsOf, type Values } from '../statements.ts'
import type { Row } from '../rows.ts'
import { StoreUnavailable, type Writer } from '../store.ts'
import {
  AUTHOR,
  authorValues,
  chainOf,
  COUNTER,
  keyAdministers,
  type OpenTransaction,
  Transaction,
} from '../transaction.ts'
import type { Call } from './call.ts'
import type { Connection } from './postgres-connection.ts'
import { postgres } from './postgres-dialect.ts'
import { ConnectionLost } from './postgres-errors.ts'
import type { Pool } from './postgres-pool.ts'

/**
 * One message. The lock is a separate statement, so that the next statement's snapshot is taken under the
 * lock.
 */
const BEGIN = `BEGIN ISOLATION LEVEL READ COMMITTED; ${COUNTER} FOR UPDATE`

/** In the same message as {@link BEGIN}: a write that the audit records takes no further response. */
function beginning(writer: Writer | null): string {
  if (writer === null) return BEGIN
  const { tenant, key } = authorValues(writer)
  const literals = { tenant: escapeLiteral(tenant), key: key === null ? 'NULL' : escapeLiteral(key) }
  return `${BEGIN}; ${replaceParameters(AUTHOR, (name) => literals[name as keyof typeof literals])}`
}

/** The advisory lock of a patient transaction: two integers, "seat" and "gate" in ASCII. */
const PATIENT_LOCK = '1936023924, 1734440037'

/**
 * For two statements with work between them, the transaction may be idle for longer than others. The lock
 * tells those that wait for the counter.
 */
const PATIENT = `SELECT set_config('idle_in_transaction_session_timeout', :milliseconds, true),
  set_config('statement_timeout', :milliseconds, true), pg_advisory_xact_lock_shared(${PATIENT_LOCK})`

/** Whether a patient transaction holds the counter. */
export const IS_PATIENT = `SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND (classid, objid) = (${PATIENT_LOCK})
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) AS is_patient`

const ADMINISTRATION = keyAdministers(postgres)

/**
 * One statement, whose parts see the state before it, and its parameters. A part that modifies data runs even
 * if nothing reads it.
 */
export function composed(parts: readonly Part[], result: string, values: Values): [string, Values] {
  const all: Record<string, Values[string]> = { ...values }
  const named = parts.map((part, at) => {
    if (typeof part === 'string') return `part_${at} AS (${part})`
    const { table, columns, records } = part
    const names = Object.keys(columns).join(', ')
    all[`${table}_records`] = JSON.stringify(records)
    return `part_${at} AS (INSERT INTO ${table} (${names})
      SELECT ${names} FROM ${postgres.records(`:${table}_records`, 'record', columns)})`
  })
  return [parts.length === 0 ? result : `WITH ${named.join(', ')} ${result}`, all]
}

/** Records that are inserted by one statement whatever their size. */
const FEW = 100
/** Characters of the records of one statement. */
const PIECE = 256 * 1024
const DONE = 'SELECT 1 AS done'

function openTransaction(
  connection: Connection,
  call: Call,
): OpenTransaction & { readonly hasModified: boolean } {
  let hasModified = false
  const all = (statement: string, values: Values): Promise<Row[]> => connection.query(statement, values)
  /**
   * Inserts all records but the last ones, in pieces: one statement of many large records would stop the
   * event loop.
   */
  const insertMost = async (insertion: Insertion): Promise<Insertion> => {
    if (insertion.records.length <= FEW) return insertion
    const { table, columns } = insertion
    let records: Values[] = []
    let size = 0
    const share = new UrgentShare()
    for (const record of insertion.records) {
      await share.next()
      records.push(record)
      for (const value of Object.values(record)) size += typeof value === 'string' ? value.length : 8
      if (size < PIECE) continue
      await all(...composed([{ table, columns, records }], DONE, {}))
      records = []
      size = 0
    }
    return { table, columns, records }
  }
  return {
    ...statementsOf(all),
    get hasModified() {
      return hasModified
    },
    modify: async (parts, result, values) => {
      hasModified = true
      const rest: Part[] = []
      for (const part of parts) rest.push(typeof part === 'string' ? part : await insertMost(part))
      return all(...composed(rest, result, values))
    },
    elapsed: () => call.waited + call.elapsed,
    bePatient: async () => void (await all(PATIENT, { milliseconds: `${call.timeout}` })),
  }
}

interface Transacted<V> {
  readonly value: V
  /** Whether a statement that writes is committed. */
  readonly hasStored: boolean
}

/**
 * A refusal rolls back. Otherwise it commits before the call expires, or rejects; the write may be committed
 * then.
 */
export async function transact<V>(
  pool: Pool,
  call: Call,
  work: (transaction: Transaction) => Promise<V>,
  writer: Writer | null = null,
): Promise<Transacted<V>> {
  const once = () =>
    pool.use(call, async (connection) => {
      const [, counter, author] = await connection.runEach(beginning(writer))
      call.hasBegun = true
      const chain = writer === null ? null : chainOf(writer, author?.rows[0])
      const open = openTransaction(connection, call)
      const value = await work(new Transaction(open, ADMINISTRATION, counter?.rows[0], chain))
      await end(connection, call, isRefusal(value) ? 'ROLLBACK' : 'COMMIT')
      return { value, hasStored: open.hasModified && !isRefusal(value) }
    })
  try {
    return await once()
  } catch (cause) {
    // Retried only if the connection broke before the transaction began: afterwards the write may have been
    // committed.
    if (call.hasBegun || call.expired || !(cause instanceof ConnectionLost)) throw cause
    return once()
  }
}

async function end(connection: Connection, call: Call, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  if (call.expired) throw new StoreUnavailable('the store responded too late', { fault: 'timeout' })
  const { command } = await connection.run(how)
  if (command !== how) throw new StoreUnavailable(`the store responded to ${how} with ${command}`)
}
