/** The statements of a connection, each prepared at its first use. */

import type { DatabaseSync, StatementSync } from 'node:sqlite'
import { replaceParameters, valueOf, type Values } from '../statements.ts'
import { PAGE_TEXT } from '../pages.ts'
import type { Row } from '../rows.ts'

interface Prepared {
  readonly statement: StatementSync
  readonly names: readonly string[]
}

export class PreparedStatements {
  readonly #connection: DatabaseSync
  readonly #prepared = new Map<string, Prepared>()

  constructor(connection: DatabaseSync) {
    this.#connection = connection
  }

  all(text: string, values: Values): Row[] {
    const { statement, names } = this.#of(text)
    return statement.all(parametersOf(names, values))
  }

  get(text: string, values: Values): Row | undefined {
    const { statement, names } = this.#of(text)
    return statement.get(parametersOf(names, values))
  }

  /** Reads one row at a time: bounds the memory of a page of large rows. @param next called before each row */
  page(text: string, values: Values, limit: number, next: () => void) {
    const { statement, names } = this.#of(text)
    // A row that was tampered with may have an integer that no number has: reading it must not fail.
    statement.setReadBigInts(true)
    const rows: Row[] = []
    let size = 0
    for (const row of statement.iterate(parametersOf(names, values))) {
      next()
      if (rows.length === limit || size >= PAGE_TEXT) return { rows, hasMore: true }
      for (const value of Object.values(row)) if (typeof value === 'string') size += value.length
      rows.push(withNumbers(row))
    }
    return { rows, hasMore: false }
  }

  #of(text: string): Prepared {
    const known = this.#prepared.get(text)
    if (known !== undefined) return known
    const names = new Set<string>()
    replaceParameters(text, (name) => {
      names.add(name)
      return ''
    })
    const made = { statement: this.#connection.prepare(text), names: [...names] }
    this.#prepared.set(text, made)
    return made
  }
}

function parametersOf(
  names: readonly string[],
  values: Values,
): Record<string, string | number | Uint8Array | null> {
  const parameters: Record<string, string | number | Uint8Array | null> = {}
  for (const name of names) parameters[name] = valueOf(values, name)
  return parameters
}

/** Inexact above 2^53, where no row that was written has a number. */
function withNumbers(row: Row): Row {
  const columns = Object.entries(row)
  return Object.fromEntries(
    columns.map(([name, value]) => [name, typeof value === 'bigint' ? Number(value) : value]),
  )
}
