/**
 * How a write runs: its transaction locks the one counter row before it reads anything, so that all writers of a
 * deployment take turns, what it reads stays true until it commits, and numbers are handed out in the order of commits.
 */

import type { Change, Committed } from '../../model/change.ts'
import { isRefusal } from '../../model/refusal.ts'
import { nextUlidTime } from '../../model/ulid.ts'
import { drawMark, KEPT } from '../feed.ts'
import { counted } from '../point-reads.ts'
import { integer, type Row } from '../rows.ts'
import { StoreUnavailable } from '../store.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { ConnectionLost } from './errors.ts'
import type { Pool } from './pool.ts'
import { type Sql, sql, type Values } from './sql.ts'

/** One message. The lock is a statement of its own: the snapshot of the next one is taken when it is held. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED; SELECT seq, id_time FROM counter FOR UPDATE'

/** @param work data-modifying statements as `name AS (…)`, each with its comma; they are done in the same snapshot */
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

  ask(question: Sql, values: Values): Promise<Row[]> {
    return this.#connection.ask(question, values)
  }

  /** The time part for the id of what is made in this transaction. */
  idTime(now: number): number {
    this.#idTime = nextUlidTime(now, this.#idTime)
    return this.#idTime
  }

  /** Does what `work` says, numbers the changes, and marks them. Once a transaction, last. */
  async write(work: Sql, changes: readonly Change[], values: Values): Promise<Committed> {
    const [before, mark] = [this.#seq, drawMark()]
    const seq = before + changes.length
    const kinds = changes.map(({ kind }) => kind)
    const keys = changes.map(({ key }) => key)
    const head = { before, seq, mark, last: seq - KEPT, id_time: this.#idTime }
    await this.#connection.ask(work, { ...values, ...head, kinds, keys })
    return { seq, mark, changes }
  }
}

/** A refusal leaves no trace. It commits before the call's time is up, or says that it may have. */
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
    // Found dead before anything was written. Later, and after COMMIT above all, it may have been done.
    if (begun || call.late || !(cause instanceof ConnectionLost)) throw cause
    return once()
  }
}

async function end(connection: Connection, call: Call, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  if (call.late) throw new StoreUnavailable('the store was too slow to answer in time', { fault: 'timeout' })
  const { command } = await connection.run(how)
  if (command !== how) throw new StoreUnavailable(`the store answered ${how} by ${command}`)
}
