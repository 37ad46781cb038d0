/** Converts statements with named parameters, as both drivers use them, to PostgreSQL's numbered ones. */

import { createHash } from 'node:crypto'
import { replaceParameters, valueOf, type Values } from '../statements.ts'

export interface Sql {
  /** With `$1`, `$2` and so on. */
  readonly text: string
  /** The parameters' names, in the order of their numbers. */
  readonly names: readonly string[]
  /** Name of the prepared statement of each connection; null: parsed each time. */
  readonly prepared: string | null
}

export function sql(statement: string): Sql {
  const names: string[] = []
  const text = replaceParameters(statement, (name) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { text, names, prepared: null }
}

/** For frequent statements: parsed once for each connection. */
export function prepared(statement: string): Sql {
  const made = sql(statement)
  return { ...made, prepared: createHash('sha256').update(made.text).digest('hex').slice(0, 32) }
}

/** `convert`, once for each statement: the store has some hundred. */
export function remembered(convert: (statement: string) => Sql): (statement: string) => Sql {
  const known = new Map<string, Sql>()
  return (statement) => {
    const found = known.get(statement) ?? convert(statement)
    known.set(statement, found)
    return found
  }
}

/** In the order of their numbers. */
export function valuesOf({ names }: Sql, values: Values): unknown[] {
  return names.map((name) => valueOf(values, name))
}
