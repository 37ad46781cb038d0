/** The statements of a connection, each prepared at its first use. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { type Insertion, replaceParameters, valueOf, type Values } from '../statements.ts'
import type { Page } from '../database.ts'
import { PAGE_TEXT } from '../pages.ts'
import type { Columns, Row } from '../rows.ts'

interface Prepared {
  readonly statement: StatementSync
  /** Of the parameter at each position. */
  readonly names: readonly string[]
}

export class PreparedStatements {
  readonly #connection: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()
  readonly #insertions = new Map<Columns, string>()

  constructor(connection: DatabaseSync) {
    this.#connection = connection
  }

  all(text: string, values: Values): Row[] {
    const { statement, names } = this.#of(text)
    return statement.all(...parametersOf(names, values))
  }

  get(text: string, values: Values): Row | undefined {
    const { statement, names } = this.#of(text)
    return statement.get(...parametersOf(names, values))
  }

  /** Reads one row at a time: bounds the memory of a page of large rows. @param next called before each row */
  page(text: string, values: Values, limit: number, next: () => void): Page {
    const { statement, names } = this.#of(text)
    const parameters = parametersOf(names, values)
    try {
      return pageOf(statement.iterate(...parameters), limit, next)
    } catch (cause) {
      if (!isOutOfRange(cause)) throw cause
      return pageWithBigIntegers(statement, parameters, limit, next)
    }
  }

  insert({ table, columns, records }: Insertion): void {
    const text = this.#insertions.get(columns) ?? insertionInto(table, columns)
    this.#insertions.set(columns, text)
    for (const record of records) this.all(text, record)
  }

  #of(text: string): Prepared {
    const known = this.#prepared.get(text)
    if (known !== undefined) return known
    const names: string[] = []
    // Bound by position, which takes half the time.
    const numbered = replaceParameters(text, (name) => {
      names.push(name)
      return '?'
    })
    const made = { statement: this.#connection.prepare(numbered), names }
    this.#prepared.set(text, made)
    return made
  }
}

function parametersOf(names: readonly string[], values: Values): Values[string][] {
  return names.map((name) => valueOf(values, name))
}

function insertionInto(table: string, columns: Columns): string {
  const names = Object.keys(columns)
  return `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => `:${name}`).join(', ')})`
}

function pageOf(found: Iterable<Row>, limit: number, next: () => void): Page {
  const rows: Row[] = []
  let size = 0
  for (const row of found) {
    next()
    if (rows.length === limit || size >= PAGE_TEXT) return { rows, hasMore: true }
    for (const value of Object.values(row)) if (typeof value === 'string') size += value.length
    rows.push(row)
  }
  return { rows, hasMore: false }
}

/** A row that was tampered with has an integer that no number has: reading it must not fail. */
function pageWithBigIntegers(
  statement: StatementSync,
  parameters: readonly Values[string][],
  limit: number,
  next: () => void,
): Page {
  statement.setReadBigInts(true)
  try {
    const { rows, hasMore } = pageOf(statement.iterate(...parameters), limit, next)
    return { rows: rows.map(withNumbers), hasMore }
  } finally {
    statement.setReadBigInts(false)
  }
}

function isOutOfRange(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ERR_OUT_OF_RANGE'
}

/** Inexact above 2^53, where no row that was written has a number. */
function withNumbers(row: Row): Row {
  const columns = Object.entries(row)
  return Object.fromEntries(
    columns.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}
