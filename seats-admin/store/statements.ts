/** Statements with named parameters, as both databases run them. */

import type { Columns, Row } from './rows.ts'

/** Parameters by name. A statement takes those that it names, and fails if one is missing. */
export type Values = Readonly<Record<string, string | number | Uint8Array | null>>

/** The insertion of records into a table. Each has a value for each column. */
export interface Insertion {
  readonly table: string
  readonly columns: Columns
  readonly records: readonly Values[]
}

/** A part of a write: a statement that modifies data, or an insertion. */
export type Part = string | Insertion

/** Runs one statement. */
export interface Statements {
  all(statement: string, values: Values): Promise<Row[]>
  /** The first row. */
  get(statement: string, values: Values): Promise<Row | undefined>
}

export function statementsOf(all: Statements['all']): Statements {
  return { all, get: async (statement, values) => (await all(statement, values))[0] }
}

/** `:name`, but neither the `::` of a cast nor a permission such as `'seats:update'`. */
const PARAMETER = /(?<![:\w]):([a-z_]+)/g

/** @param replace gives what stands in the statement for a parameter */
export function replaceParameters(statement: string, replace: (name: string) => string): string {
  return statement.replace(PARAMETER, (_, name: string) => replace(name))
}

/** @throws when it is missing, because null has another meaning */
export function valueOf(values: Values, name: string): string | number | Uint8Array | null {
  const value = values[name]
  if (value === undefined) throw new TypeError(`parameter ${name} is missing`)
  return value
}
