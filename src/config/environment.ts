/**
 * `${NAME}`, `${NAME:-default}` and `${file:PATH}` in a value. They are replaced after parsing, so that they
 * can change a value, but never the structure around it.
 */

import { InvalidValue, quote, Undetermined } from './invalid-value.ts'
import type { ValueFiles } from './value-files.ts'

const NO_VARIABLES =
  'has a variable: tables in the store are the same for all instances, so write the value itself (write $${ for a literal ${)'
/** The beginning of the name of a file. `${file:-x}` is the variable `file` with a default. */
const FILE = /^file:(?!-)/
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * The default applies if the variable is unset or empty. `$${` is a literal `${`. The variable's value is not
 * expanded again. One line end at its end is removed, because variables are often set from files. No message
 * contains the value.
 *
 * @param env null: a variable is a fault
 * @param isSecret the value is a secret: no message proposes a default, which would stand in the file
 * @param files null: files are not read
 */
export function substitute(
  text: string,
  env: NodeJS.ProcessEnv | null,
  isSecret = false,
  files: Pick<ValueFiles, 'read'> | null = null,
): string | InvalidValue {
  const faults: InvalidValue[] = []
  const result = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (match, inside: string, end) => {
    if (match === '$${') return '${'
    const value =
      end === ''
        ? new InvalidValue(`has a \${ without a closing } (write $\${ for a literal \${)`)
        : env === null
          ? new InvalidValue(NO_VARIABLES)
          : FILE.test(inside)
            ? fromFile(inside.replace(FILE, ''), files)
            : lookUp(inside, env, isSecret)
    if (!(value instanceof InvalidValue)) return value
    faults.push(value)
    return ''
  })
  return faults.find((fault) => !(fault instanceof Undetermined)) ?? faults[0] ?? result
}

const BRACE = /\$\$\{|\$\{/g

/**
 * The key, with `${` for each `$${`.
 *
 * @returns null if it contains a variable, which is replaced in values only
 */
export function literalKey(text: string): string | null {
  let isLiteral = true
  const key = text.replace(BRACE, (match) => {
    if (match === '${') isLiteral = false
    return '${'
  })
  return isLiteral ? key : null
}

/** The text in the form of a key or a value, with `$${` for each `${`. */
export function escapeVariables(text: string): string {
  return text.replaceAll('${', () => '$${')
}

/** The names of the variables in a value before replacement, and `file:PATH` for each file. */
export function variablesIn(text: string): string[] {
  const matches = text.matchAll(/\$\$\{|\$\{(file:(?!-)[^}]*|[A-Za-z_][A-Za-z0-9_]*)/g)
  return [...new Set([...matches].flatMap(([, name]) => name ?? []))]
}

/** Whether a value before replacement is one variable, with or without a default, and nothing else. */
export function isVariable(text: string): boolean {
  return /^\$\{[^}]*\}$/.test(text)
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable, trimmed; null: the variable is unset or empty. */
export function setVariable(env: Environment, name: string): string | null {
  const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined
  return value || null
}

function fromFile(path: string, files: Pick<ValueFiles, 'read'> | null): string | InvalidValue {
  if (path === '' || path.includes('\0') || path.includes('${'))
    return new InvalidValue('has a ${file:…} without a path: write ${file:PATH}, where PATH has no variable')
  if (path.includes(':-'))
    return new InvalidValue(
      `has a default after the file ${quote(path)}: a file has none, remove it from :- on`,
    )
  return files?.read(path) ?? new Undetermined(`names the file ${quote(path)}, which is not read here`)
}

function lookUp(inside: string, env: NodeJS.ProcessEnv, isSecret: boolean): string | InvalidValue {
  const separator = inside.indexOf(':-')
  const name = separator < 0 ? inside : inside.slice(0, separator)
  if (!NAME.test(name))
    return new InvalidValue(
      `has a \${…} that is neither \${NAME} nor \${NAME:-default} nor \${file:PATH} (write $\${ for a literal \${)`,
    )
  if (inside.includes('${'))
    return new InvalidValue(
      `has a \${ inside the default of \${${name}}: write the default without variables`,
    )
  const value = Object.hasOwn(env, name) ? env[name]?.replace(/\r?\n$/, '') : undefined
  if (separator >= 0) return value === undefined || value === '' ? inside.slice(separator + 2) : value
  if (value !== undefined) return value
  const orDefault = isSecret ? '' : `, or write \${${name}:-default}`
  return new Undetermined(
    `uses the environment variable ${name}, which is not set: set it, in the environment or in .env beside the configuration${orDefault}`,
  )
}
