/**
 * `${NAME}` and `${NAME:-default}` in a value. Replaced after parsing, so that a variable can change a value but never
 * the structure around it.
 */

import { InvalidValue } from './invalid-value.ts'

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/

/**
 * A default stands in when the variable is unset or empty; `$${` is a plain `${`. What came out of a variable is not
 * looked at again. No message holds a variable's value.
 */
export function substitute(text: string, env: NodeJS.ProcessEnv): string | InvalidValue {
  let result = ''
  let done = 0
  for (let at = text.indexOf('${'); at >= 0; at = text.indexOf('${', done)) {
    if (at > done && text[at - 1] === '$') {
      result += `${text.slice(done, at - 1)}\${`
      done = at + 2
      continue
    }
    const end = text.indexOf('}', at)
    if (end < 0) return new InvalidValue(`has a \${ without a } (a plain \${ is written $\${)`)
    const value = lookUp(text.slice(at + 2, end), env)
    if (value instanceof InvalidValue) return value
    result += text.slice(done, at) + value
    done = end + 1
  }
  return result + text.slice(done)
}

function lookUp(inside: string, env: NodeJS.ProcessEnv): string | InvalidValue {
  const mark = inside.indexOf(':-')
  const name = mark < 0 ? inside : inside.slice(0, mark)
  if (!NAME.test(name))
    return new InvalidValue(
      `has a \${…} that is neither \${NAME} nor \${NAME:-default} (a plain \${ is written $\${)`,
    )
  if (inside.includes('${')) return new InvalidValue(`has a \${ inside the default of \${${name}}`)
  const value = Object.hasOwn(env, name) ? env[name] : undefined
  if (mark >= 0) return value === undefined || value === '' ? inside.slice(mark + 2) : value
  return value ?? new InvalidValue(`needs the environment variable ${name}, which is not set`)
}
