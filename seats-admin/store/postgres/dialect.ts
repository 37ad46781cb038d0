/** PostgreSQL's variants of the shared SQL, and writers and names as its text type can hold them. */

import { createHash } from 'node:crypto'
import { inputInvalid } from '../../model/refusal.ts'
import type { Dialect } from '../rows.ts'
import { replaceUnstorable } from '../storable-text.ts'
import type { Writer } from '../store.ts'

export const postgres: Dialect = {
  spacesColumn: 's.short_spaces',
  list: (value, order) => `coalesce(json_agg(${value} ORDER BY ${order})::text, '[]')`,
  texts: (parameter) => `SELECT json_array_elements_text(${parameter}::json)`,
  clock: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  position: (text, part) => `strpos(${text}, ${part})`,
  // OFFSET 0 keeps the planner from joining by a scan of the whole table.
  lookup: (table, condition) => `CROSS JOIN LATERAL (SELECT * FROM ${table} l WHERE ${condition} OFFSET 0) l`,
  isMember: (sub) => `l.user_digest = sha256(convert_to(${sub}, 'UTF8'))`,
  member: "encode(l.user_digest, 'hex')",
  memberOf: (sub) => createHash('sha256').update(sub).digest('hex'),
  hasAsterisk: (text) => `strpos(${text}, '*') > 0`,
  narrowsInSql: true,
  administrators: 'seats',
  wildcards: 'seats s',
}

/** `by` is from a token and may contain any character. */
export function storableWriter(writer: Writer): Writer {
  return { ...writer, by: replaceUnstorable(writer.by) }
}

/** The refusal of a name with unstorable characters. */
export const nameNotStorable = inputInvalid([
  { path: '/name', message: 'has characters that the store cannot hold' },
])
