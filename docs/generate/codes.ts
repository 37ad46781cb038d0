/** The overview of `errors.md`: every code with its status and title. */

import { errors } from '../../src/model/errors.ts'
import { code, table } from './regions.ts'

export function codeTable(): string {
  const rows = Object.entries(errors).map(([name, { status, title }]) => [
    String(status),
    `[${code(name)}](#${name})`,
    title,
  ])
  return table(['status', 'code', 'title'], rows)
}
