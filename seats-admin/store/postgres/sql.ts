/** Converts statements with named parameters, as both drivers use them, to PostgreSQL's numbered ones. */

import { createHash } from 'node:crypto'

export interface Sql {
  /** With `$1`, `$2` and so on. */
  readonly text: string
  /** The parameters' names, in the order of their numbers. */
  readonly names: readonly string[]
  /** Name of the prepared statement of each connection; null: parsed each time. */
  readonly prepared: string | null
}

export type Values = Readonly<Record<string, unknown>>

/** `:name`, but neither the `::` of a cast nor a permission such as `'seats:update'`. */
const PARAMETER = /(?<![:\w]):([a-z_]+)/g

export function sql(text: string): Sql {
  const names: string[] = []
  const numbered = text.replace(PARAMETER, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  return { text: numbered, names, prepared: null }
}

/** For frequent statements: parsed once for each connection. */
export function prepared(text: string): Sql {
  const made = sql(text)
  return { ...made, prepared: createHash('sha256').update(made.text).digest('hex').slice(0, 32) }
}

/** In the order of their numbers. @throws when one is missing, because null has another meaning */
export function valuesOf({ names }: Sql, values: Values): unknown[] {
  return names.map((name) => {
    const value = values[name]
    if (value === undefined) throw new TypeError(`parameter ${name} is missing`)
    return value
  })
}
