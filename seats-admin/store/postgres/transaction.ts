/**
 * Transactions of writes. A transaction locks the single counter row before it reads anything: writers of a deployment are
 * serialized, reads stay valid until the commit, and changes are numbered in commit order.
 */

import { escapeLiteral } from 'pg'
import type { KeyAdministration } from '../../model/administration.ts'
import type { Change, Committed } from '../../model/change.ts'
import { isRefusal } from '../../model/refusal.ts'
import { isUlid, nextUlidTime } from '../../model/ulid.ts'
import { administrationQueries } from '../administration.ts'
import { AUDIT_COLUMNS, auditHead } from '../audit-queries.ts'
import { AuditChain, type AuditEvent, type AuditRow } from '../audit-rows.ts'
import { drawMark, MAX_RETAINED } from '../feed.ts'
import { counted } from '../point-reads.ts'
import { integer, type Row, textOrNull } from '../rows.ts'
import { StoreUnavailable, type Writer } from '../store.ts'
import type { Call } from './call.ts'
import type { Connection } from './connection.ts'
import { postgres } from './dialect.ts'
import { ConnectionLost } from './errors.ts'
import type { Pool } from './pool.ts'
import { type Sql, sql, type Values } from './sql.ts'

/** One message. The lock is a separate statement, so that the next statement's snapshot is taken under the lock. */
const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED; SELECT seq, id_time FROM counter FOR UPDATE'

/** In the same message as {@link BEGIN}: a write that the audit records takes no further response. */
function beginning(writer: Writer | null): string {
  if (writer === null) return BEGIN
  const { actor, by } = writer
  const tenant = escapeLiteral(writer.tenant)
  const id = actor?.kind === 'api-key' && isUlid(by) ? escapeLiteral(by) : 'NULL'
  return `${BEGIN}; SELECT h.seq, h.hash, k.name FROM (SELECT 1) o LEFT JOIN audit_heads h ON h.tenant = ${tenant}
    LEFT JOIN api_keys k ON k.tenant = ${tenant} AND k.id = ${id}`
}

/** A write that the audit does not record. @param work data-modifying CTEs `name AS (…)`, each with a trailing comma */
export function logged(work: string): Sql {
  return statement(work, false)
}

/** A write that the audit records, see {@link Transaction.record}. @param work as of {@link logged} */
export function recorded(work: string): Sql {
  return statement(`${work}${RECORD}`, true)
}

const { administratingKey } = administrationQueries(postgres)

/**
 * A {@link recorded} write that tells {@link KeyAdministration} in its response, by the values of
 * `unchangedAdministrationValues`. The question sees the state before the statement.
 */
export function recordedWithAdministration(work: string): Sql {
  return statement(`${work}${RECORD}`, true, `RETURNING EXISTS (${administratingKey}) AS key_administers`)
}

const RECORD = `
  entries AS (INSERT INTO audit (${AUDIT_COLUMNS})
    SELECT ${AUDIT_COLUMNS} FROM json_to_recordset(:audit_rows::json) AS entry (tenant text, id text, seq bigint, at bigint,
      actor_kind text, actor_id text, actor_name text, request_id text, action text, target_kind text, target_id text,
      target_name text, space text, prev text, hash text, visible_in text, before text, after text)),
  head AS (INSERT INTO audit_heads (tenant, seq, hash) VALUES (:tenant, :audit_seq, :audit_hash)
    ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, hash = excluded.hash),`

function statement(work: string, audited: boolean, returning = ''): Sql {
  return sql(`WITH ${work}
    added AS (INSERT INTO changes (seq, mark, tenant, kind, key, audited)
      SELECT :before + new.at, :mark, :tenant, new.kind, new.key, ${audited}
      FROM unnest(:kinds::text[], :keys::text[]) WITH ORDINALITY AS new (kind, key, at)),
    pruned AS (DELETE FROM changes WHERE seq <= :last)
    UPDATE counter SET seq = :seq, mark = :mark, id_time = :id_time ${returning}`)
}

export class Transaction {
  readonly call: Call
  readonly #connection: Connection
  readonly #seq: number
  #idTime: number
  /** Null: the transaction was not begun for a write that the audit records. */
  readonly #chain: AuditChain | null
  readonly #entries: AuditRow[] = []

  constructor(call: Call, connection: Connection, counter: Row, chain: AuditChain | null) {
    this.call = call
    this.#connection = connection
    this.#seq = integer(counter, 'seq')
    this.#idTime = integer(counter, 'id_time')
    this.#chain = chain
  }

  query(question: Sql, values: Values): Promise<Row[]> {
    return this.#connection.query(question, values)
  }

  /** The time part of the next id. */
  idTime(now: number): number {
    this.#idTime = nextUlidTime(now, this.#idTime)
    return this.#idTime
  }

  /** Adds an entry to the audit, with the {@link write} that ends the transaction. @param now ms since the epoch */
  record(event: AuditEvent, now: number): void {
    if (this.#chain === null) throw new Error('the transaction was begun without its author')
    this.#entries.push(this.#chain.append(this.idTime(now), event))
  }

  /** Runs `work`, numbers and marks the changes. Once a transaction, as its last statement. */
  async write(work: Sql, changes: readonly Change[], values: Values): Promise<Committed & KeyAdministration> {
    const [before, mark] = [this.#seq, drawMark()]
    const seq = before + changes.length
    const kinds = changes.map(({ kind }) => kind)
    const keys = changes.map(({ key }) => key)
    const head = { before, seq, mark, last: seq - MAX_RETAINED, id_time: this.#idTime }
    const all = { ...values, ...head, ...this.#audit(), kinds, keys }
    const [row] = await this.#connection.query(work, all)
    return { seq, mark, changes, keyAdministers: row?.key_administers === true }
  }

  /** The parameters of {@link recorded}; none without an entry, so that such a statement fails. */
  #audit(): Values {
    const head = this.#chain?.head ?? null
    if (head === null || this.#entries.length === 0) return {}
    return { audit_rows: JSON.stringify(this.#entries), audit_seq: head.seq, audit_hash: head.hash }
  }
}

/** A refusal rolls back. Otherwise it commits before the call expires, or rejects; the write may be committed then. */
export async function transact<V>(
  pool: Pool,
  call: Call,
  work: (transaction: Transaction) => Promise<V>,
  writer: Writer | null = null,
): Promise<V> {
  let begun = false
  const once = () =>
    pool.use(call, async (connection) => {
      const [, counter, author] = await connection.runEach(beginning(writer))
      begun = true
      const chain = writer === null ? null : chainOf(writer, counted(author?.rows[0]))
      const value = await work(new Transaction(call, connection, counted(counter?.rows[0]), chain))
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

/** @param row of {@link beginning} */
function chainOf(writer: Writer, row: Row): AuditChain {
  return new AuditChain(writer, row.seq === null ? null : auditHead(row), textOrNull(row, 'name'))
}

async function end(connection: Connection, call: Call, how: 'COMMIT' | 'ROLLBACK'): Promise<void> {
  if (call.expired) throw new StoreUnavailable('the store responded too late', { fault: 'timeout' })
  const { command } = await connection.run(how)
  if (command !== how) throw new StoreUnavailable(`the store responded to ${how} with ${command}`)
}
