/**
 * `${NAME}` and `${NAME:-default}` in a value. Replaced after parsing: a variable can change a value, but never the
 * structure around it.
 */

import { InvalidValue, Undetermined } from './invalid-value.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * The default applies when the variable is unset or empty. `$${` is a literal `${`. A variable's value is not expanded
 * again, and loses one line end at its end, which a file that was read into it has. No message contains a variable's value.
 *
 * @param isSecret no message proposes to write it into the file
 */
export function substitute(text: string, env: NodeJS.ProcessEnv, isSecret = false): string | InvalidValue {
  const faults: InvalidValue[] = []
  const result = text.replace(/\$\$\{|\$\{([^}]*)(\}?)/g, (found, inside: string, end) => {
    if (found === '$${') return '${'
    const value =
      end === ''
        ? new InvalidValue(`has a \${ without a closing } (write $\${ for a literal \${)`)
        : lookUp(inside, env, isSecret)
    if (!(value instanceof InvalidValue)) return value
    faults.push(value)
    return ''
  })
  return faults.find((fault) => !(fault instanceof Undetermined)) ?? faults[0] ?? result
}

const BRACE = /\$\$\{|\$\{/g

/** A key, in which `$${` is a literal `${` too. @returns null where it has a variable: those are replaced in values only */
export function literalKey(text: string): string | null {
  let isLiteral = true
  const key = text.replace(BRACE, (found) => {
    if (found === '${') isLiteral = false
    return '${'
  })
  return isLiteral ? key : null
}

/** The text as a key or a value is written that means it. */
export function escapeVariables(text: string): string {
  return text.replaceAll('${', () => '$${')
}

/** The names of the variables in a value as it is written. */
export function variablesIn(text: string): string[] {
  const found = text.matchAll(/\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)/g)
  return [...new Set([...found].flatMap(([, name]) => name ?? []))]
}

/** Whether a value as it is written is one variable, perhaps with a default. */
export function isVariable(text: string): boolean {
  return /^\$\{[^}]*\}$/.test(text)
}

export type Environment = Readonly<Record<string, string | undefined>>

/** The value of a variable that the environment sets, trimmed; null: it is unset, or empty, which counts as unset. */
export function setVariable(env: Environment, name: string): string | null {
  const value = Object.hasOwn(env, name) ? env[name]?.trim() : undefined
  return value || null
}

function lookUp(inside: string, env: NodeJS.ProcessEnv, isSecret: boolean): string | InvalidValue {
  const separator = inside.indexOf(':-')
  const name = separator < 0 ? inside : inside.slice(0, separator)
  if (!NAME.test(name))
    return new InvalidValue(
      `has a \${…} that is neither \${NAME} nor \${NAME:-default} (write $\${ for a literal \${)`,
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
