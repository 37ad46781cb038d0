/** What PostgreSQL calls the things that SQLite names otherwise, and what its text can't hold. Used by the driver's readers and writers. */

import { inputInvalid } from '../../model/refusal.ts'
import type { Dialect } from '../rows.ts'

export const postgres: Dialect = {
  spacesColumn: 's.short_spaces',
  list: (value, order) => `coalesce(json_agg(${value} ORDER BY ${order})::text, '[]')`,
  position: (text, part) => `strpos(${text}, ${part})`,
  narrowsInSql: true,
  administrators: 'seats',
}

/** PostgreSQL's text holds neither U+0000 nor lone surrogates. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

/** For a name or an id that is looked up: '' is nobody's, and found as little as a text that can't be stored. */
export function wanted(text: string): string {
  return isStorable(text) ? text : ''
}

/** For a text that people read: with U+FFFD for what can't be stored. */
export function legible(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** For a name that is to be stored. */
export const nameNotStorable = inputInvalid([
  { path: '/name', message: 'has characters that can not be stored' },
])
