/**
 * The transaction of a write: it numbers its changes, and continues the audit. Writes exclude each other from
 * their start, so that reads stay valid until the commit, and changes are numbered in commit order.
 */

import type { AuditActor, AuditHead } from '../model/audit.ts'
import type { Change, Committed, KeyAdministration } from '../model/change.ts'
import { isUlid, nextUlidTime } from '../model/ulid.ts'
import { administrationQueries } from './administration-queries.ts'
import { AUDIT_COLUMNS, AuditChain, type AuditEvent, auditHead } from './audit-chain.ts'
import type { Part, Statements, Values } from './statements.ts'
import { drawMark, MAX_RETAINED } from './feed.ts'
import { counterRow, type Columns, type Dialect, integer, type Row, textOrNull } from './rows.ts'
import type { Writer } from './writer.ts'

/** An open transaction of the database. */
export interface OpenTransaction extends Statements {
  /** Milliseconds since the write was called, with all its attempts. */
  elapsed(): number
  /** As {@link Transaction.bePatient}. */
  bePatient(): Promise<void>
  /** As {@link UnnumberedWrites.modify}. */
  modify(parts: readonly Part[], result: string, values: Values): Promise<Row[]>
}

/** What a write does, beside its entries in the audit. */
export interface Effect {
  readonly parts: readonly Part[]
  readonly changes: readonly Change[]
  readonly values: Values
}

/** The position of the last change, and the time part of the last id. */
export const COUNTER = 'SELECT seq, mark, id_time FROM counter'

/** What the audit needs of the author of a write, with {@link authorValues}. */
export const AUTHOR = `SELECT h.seq, h.hash, k.name FROM (SELECT 1 AS one) o LEFT JOIN audit_heads h ON h.tenant = :tenant
  LEFT JOIN api_keys k ON k.tenant = :tenant AND k.id = :key`

export function authorValues({ tenant, by, actor }: Writer): { tenant: string; key: string | null } {
  return { tenant, key: actor?.kind === 'api-key' && isUlid(by) ? by : null }
}

/** @param row of {@link AUTHOR}; of `headQuery`, where the author is no API key */
export function chainOf(writer: Writer, row: Row | undefined): AuditChain {
  const name = row?.name === undefined ? null : textOrNull(row, 'name')
  return new AuditChain(writer, row === undefined || row.seq === null ? null : auditHead(row), name)
}

/** The columns of `changes`. */
const CHANGES: Columns = {
  seq: 'bigint',
  mark: 'bigint',
  tenant: 'text',
  kind: 'text',
  key: 'text',
  audited: 'boolean',
}

const COUNT: readonly Part[] = [
  'DELETE FROM changes WHERE seq <= :last',
  'UPDATE counter SET seq = :seq, mark = :mark, id_time = :id_time',
]
const AUDIT_HEAD = `INSERT INTO audit_heads (tenant, seq, hash) VALUES (:audit_tenant, :audit_seq, :audit_hash)
  ON CONFLICT (tenant) DO UPDATE SET seq = excluded.seq, hash = excluded.hash`

/** A row with {@link KeyAdministration}. */
export function keyAdministers(dialect: Dialect): string {
  return `SELECT EXISTS (${administrationQueries(dialect).administratingKeyBesides}) AS key_administers`
}

const NOTHING = 'SELECT 1 AS one'

export class Transaction {
  readonly #database: OpenTransaction
  readonly #keyAdministers: string
  readonly #seq: number
  readonly #mark: number
  #idTime: number
  readonly #chain: AuditChain | null

  /**
   * @param administration the statement of {@link keyAdministers}
   * @param counter the row of {@link COUNTER}
   * @param chain null: the audit does not record the write
   */
  constructor(
    database: OpenTransaction,
    administration: string,
    counter: Row | undefined,
    chain: AuditChain | null,
  ) {
    const row = counterRow(counter)
    this.#database = database
    this.#keyAdministers = administration
    this.#seq = integer(row, 'seq')
    this.#mark = integer(row, 'mark')
    this.#idTime = integer(row, 'id_time')
    this.#chain = chain
  }

  /** Milliseconds since the write was called, with all its attempts. */
  get elapsed(): number {
    return this.#database.elapsed()
  }

  /**
   * Lets its statements, and the pauses between them, take as long as the whole call may, and tells the
   * writes that wait. Not from the start of each call that has longer than others: while a frozen process
   * holds the lock, all writers of a fleet wait.
   */
  bePatient(): Promise<void> {
    return this.#database.bePatient()
  }

  /**
   * The result of a write that finds nothing to do, in place of {@link commit}. The write that did it may not
   * be known everywhere yet: it is announced up to here.
   */
  get unchanged(): Committed {
    return { seq: this.#seq, mark: this.#mark, changes: [] }
  }

  all(statement: string, values: Values): Promise<Row[]> {
    return this.#database.all(statement, values)
  }

  get(statement: string, values: Values): Promise<Row | undefined> {
    return this.#database.get(statement, values)
  }

  /**
   * Runs the parts of a write that numbers no change.
   *
   * @param parts as of {@link commit}
   */
  async modify(parts: readonly Part[], values: Values): Promise<void> {
    await this.#database.modify(parts, NOTHING, values)
  }

  /** The number of the newest change before this write. */
  get seq(): number {
    return this.#seq
  }

  /**
   * Runs the parts of a write that {@link commit} completes, with the entries that were recorded so far: of a
   * write to many rows, memory has a few.
   *
   * @param parts as of {@link commit}
   */
  async flush(parts: readonly Part[], values: Values): Promise<void> {
    await this.#database.modify([...parts, ...this.#entries()], NOTHING, values)
  }

  /** The time part of the next id. */
  idTime(): number {
    this.#idTime = nextUlidTime(this.#authored().writer.now, this.#idTime)
    return this.#idTime
  }

  /** The author as the audit names it. */
  get actor(): AuditActor {
    return this.#authored().actor
  }

  /** Adds an entry to the audit, which {@link flush} or {@link commit} writes. */
  record(event: AuditEvent): AuditHead {
    return this.#authored().append(this.idTime(), event)
  }

  /**
   * Runs the parts of the write, appends the recorded entries, and numbers and marks the changes. Once a
   * transaction. Without changes, the result is as {@link unchanged}.
   *
   * @param parts statements, each of which sees the state before, or after the parts before it
   */
  async commit(parts: readonly Part[], changes: readonly Change[], values: Values): Promise<Committed> {
    const { committed } = await this.#commit(parts, changes, values, NOTHING)
    return committed
  }

  commitEffect({ parts, changes, values }: Effect): Promise<Committed> {
    return this.commit(parts, changes, values)
  }

  /**
   * {@link commit}, which tells {@link KeyAdministration}.
   *
   * @param without what the write takes administration from: ids of Seats that it changes or deletes, and a
   *   user whom it blocks
   */
  async commitAdministrative(
    parts: readonly Part[],
    changes: readonly Change[],
    parameters: Values,
    { seats = [], owner = null }: { readonly seats?: readonly string[]; readonly owner?: string | null } = {},
  ): Promise<Committed & KeyAdministration> {
    const { tenant, scope, now } = this.#authored().writer
    const values = {
      ...parameters,
      tenant,
      now,
      listed: JSON.stringify(scope.space),
      without: seats.join(),
      // No text in JSON is empty.
      blocked_owner: owner === null ? '' : JSON.stringify(owner),
    }
    const { committed, row } = await this.#commit(parts, changes, values, this.#keyAdministers)
    return { ...committed, keyAdministers: Boolean(row?.key_administers) }
  }

  async #commit(parts: readonly Part[], changes: readonly Change[], values: Values, result: string) {
    const seq = this.#seq + changes.length
    // The mark stays that of the newest change: a reader at the head goes on from there.
    const mark = changes.length === 0 ? this.#mark : drawMark()
    const audit = this.#audit()
    const audited = Number(audit.parts.length > 0)
    const rows = changes.map((change, at) => ({ seq: this.#seq + at + 1, mark, ...change, audited }))
    const counter = { seq, mark, last: seq - MAX_RETAINED, id_time: this.#idTime }
    const all = [...parts, ...audit.parts, { table: 'changes', columns: CHANGES, records: rows }, ...COUNT]
    const [row] = await this.#database.modify(all, result, { ...values, ...counter, ...audit.values })
    return { row, committed: { seq, mark, changes } }
  }

  #authored(): AuditChain {
    if (this.#chain === null) throw new Error('the transaction was begun without its author')
    return this.#chain
  }

  #audit(): { parts: readonly Part[]; values: Values } {
    const newest = this.#chain?.newest ?? null
    if (this.#chain === null || newest === null) return { parts: [], values: {} }
    return {
      parts: [...this.#entries(), AUDIT_HEAD],
      values: {
        audit_tenant: this.#chain.writer.tenant,
        audit_seq: newest.seq,
        audit_hash: newest.hash,
      },
    }
  }

  /** The insertion of the entries since the last one. */
  #entries(): Part[] {
    const records = this.#chain?.take() ?? []
    return records.length === 0 ? [] : [{ table: 'audit', columns: AUDIT_COLUMNS, records }]
  }
}
