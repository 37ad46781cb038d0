/** PostgreSQL's variants of the shared SQL, and the characters that its text type can't hold. */

import { inputInvalid } from '../../model/refusal.ts'
import type { Dialect } from '../rows.ts'
import type { Writer } from '../store.ts'

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

/** For lookups: no row has the name or id '', so an unstorable text finds nothing either. */
export function storableOrEmpty(text: string): string {
  return isStorable(text) ? text : ''
}

/** For display texts: replaces unstorable characters by U+FFFD. */
export function replaceUnstorable(text: string): string {
  return text.toWellFormed().replaceAll('\0', '\ufffd')
}

/** `by` is from a token and may contain any character. */
export function storableWriter(writer: Writer): Writer {
  return { ...writer, by: replaceUnstorable(writer.by) }
}

/** The refusal of a name with unstorable characters. */
export const nameNotStorable = inputInvalid([
  { path: '/name', message: 'has characters that the store cannot hold' },
])
