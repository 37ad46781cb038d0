/**
 * Transactions of writes. A transaction locks the single counter row before it reads anything: writers of a deployment are
 * serialized, reads stay valid until the commit, and changes are numbered in commit order.
 */

import type { Change, Committed } from '../../model/change.ts'
import { isRefusal } from '../../model/refusal.ts'
import { nextUlidTime } from '../../model/ulid.ts'
import { drawMark, MAX_RETAINED } from '../feed.ts'
import { counted } from '../point-reads.ts'
import { integer, type Row } from '../rows.ts'
import { StoreUnavailable } from '../store.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { ConnectionLost } from './errors.ts'
import type { Pool } from './pool.ts'
import { type Sql, sql, type Values } from './sql.ts'

/** One message. The lock is a separate statement, so that the next statement's snapshot is taken under the lock. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED; SELECT seq, id_time FROM counter FOR UPDATE'

/** @param work data-modifying CTEs `name AS (…)`, each with a trailing comma */
export function logged(work: string): Sql {
  return sql(`WITH ${work}
    added AS (INSERT INTO changes (seq, mark, tenant, kind, key)
      SELECT :before + new.at, :mark, :tenant, new.kind, new.key
      FROM unnest(:kinds::text[], :keys::text[]) WITH ORDINALITY AS new (kind, key, at)),
    pruned AS (DELETE FROM changes WHERE seq <= :last)
    UPDATE counter SET seq = :seq, mark = :mark, id_time = :id_time`)
}

export class Transaction {
  readonly call: Call
  readonly #connection: Connection
  readonly #seq: number
  #idTime: number

  constructor(call: Call, connection: Connection, counter: Row) {
    this.call = call
    this.#connection = connection
    this.#seq = integer(counter, 'seq')
    this.#idTime = integer(counter, 'id_time')
  }

  query(question: Sql, values: Values): Promise<Row[]> {
    return this.#connection.query(question, values)
  }

  /** The time part of the next id. */
  idTime(now: number): number {
    this.#idTime = nextUlidTime(now, this.#idTime)
    return this.#idTime
  }

  /** Runs `work`, numbers and marks the changes. Once a transaction, as its last statement. */
  async write(work: Sql, changes: readonly Change[], values: Values): Promise<Committed> {
    const [before, mark] = [this.#seq, drawMark()]
    const seq = before + changes.length
    const kinds = changes.map(({ kind }) => kind)
    const keys = changes.map(({ key }) => key)
    const head = { before, seq, mark, last: seq - MAX_RETAINED, id_time: this.#idTime }
    await this.#connection.query(work, { ...values, ...head, kinds, keys })
    return { seq, mark, changes }
  }
}

/** A refusal rolls back. Otherwise it commits before the call expires, or rejects; the write may be committed then. */
export async function transact<V>(
  pool: Pool,
  call: Call,
  work: (transaction: Transaction) => Promise<V>,
): Promise<V> {
  let begun = false
  const once = () =>
    pool.use(call, async (connection) => {
      const { rows } = await connection.run(BEGIN)
      begun = true
      const value = await work(new Transaction(call, connection, counted(rows[0])))
      await end(connection, call, isRefusal(value) ? 'ROLLBACK' : 'COMMIT')
      return value
    })
  try {
    return await once()
  } catch (cause) {
    // Retried only if the connection broke before the transaction began: afterwards the write may have been committed.
    if (begun || call.expired || !(cause instanceof ConnectionLost)) throw cause
    return once()
  }
}

async function end(connection: Connection, call: Call, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  if (call.expired) throw new StoreUnavailable('the store responded too late', { fault: 'timeout' })
  const { command } = await connection.run(how)
  if (command !== how) throw new StoreUnavailable(`the store responded to ${how} with ${command}`)
}
