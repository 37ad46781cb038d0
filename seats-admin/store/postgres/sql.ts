/** Converts statements with named parameters, as both drivers use them, to PostgreSQL's numbered ones. */

import { createHash } from 'node:crypto'
import { replaceParameters, valueOf, type Values } from '../statements.ts'

interface Sql {
  /** The statement with `$1`, `$2` and so on. */
  readonly text: string
  /** The parameters' names, in the order of their numbers. */
  readonly names: readonly string[]
  /** The name of the prepared statement in each connection. */
  readonly prepared: string
}

const cache = new Map<string, Sql>()

/** Converts each statement once: the store has some hundred. */
export function sql(statement: string): Sql {
  const result = cache.get(statement) ?? converted(statement)
  cache.set(statement, result)
  return result
}

function converted(statement: string): Sql {
  const names: string[] = []
  const text = replaceParameters(statement, (name) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { text, names, prepared: createHash('sha256').update(text).digest('hex').slice(0, 32) }
}

/** In the order of their numbers. */
export function valuesOf({ names }: Sql, values: Values): unknown[] {
  return names.map((name) => valueOf(values, name))
}
