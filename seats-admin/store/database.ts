/**
 * What the store needs of a database. `sqlite/` and `postgres/` implement it; the rules and statements of the
 * store are written once, on this interface. A statement is SQL of both databases, with parameters `:name`;
 * {@link Dialect} has the differences. All methods reject with StoreUnavailable when the database is
 * unavailable or does not respond in time.
 */

import type { Dialect, Row } from './rows.ts'
import type { Part, Statements, Values } from './statements.ts'
import type { Transaction } from './transaction.ts'
import type { Writer } from './writer.ts'

export interface Page {
  readonly rows: Row[]
  /** Whether the statement has more rows. */
  readonly hasMore: boolean
}

export interface Lists extends Statements {
  /**
   * At most `limit` rows, and fewer where they are large: a page ends after {@link PAGE_TEXT} characters,
   * with at least one row. Integers above 2^53 are inexact.
   *
   * @param statement of {@link Dialect.page}; has a row more than `limit` if there is one
   */
  page(statement: string, values: Values, limit: number): Promise<Page>
}

/**
 * Runs writes that number no change, each as one statement without the lock of {@link Database.write}. It may
 * be repeated after a lost response.
 */
export interface UnnumberedWrites extends Statements {
  /**
   * Runs all parts and returns the rows of `result`. Each part sees the state before, or after the parts
   * before it.
   */
  modify(parts: readonly Part[], result: string, values: Values): Promise<Row[]>
  /** {@link all} without an effect on the health of the store. */
  unobserved(statement: string, values: Values): Promise<void>
}

export interface Database {
  readonly dialect: Dialect
  /** Point reads of decisions. They do not wait for others. */
  readonly reads: Statements
  readonly lists: Lists
  readonly unnumbered: UnnumberedWrites

  /**
   * Runs a transaction that excludes all other numbered writes from its start. It commits before the call
   * expires, or rejects; a refusal rolls back.
   *
   * @param author of a write that the audit records; null for others
   * @param work gets the author with text that can be stored
   * @param patience times the timeout of other calls
   */
  write<V, A extends Writer | null>(
    author: A,
    work: (transaction: Transaction, writer: A) => Promise<V>,
    patience?: number,
  ): Promise<V>
}
