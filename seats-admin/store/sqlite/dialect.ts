/** SQLite's variants of the shared SQL. */

import type { Dialect } from '../rows.ts'

export const sqlite: Dialect = {
  spacesColumn: 's.spaces',
  list: (value, order) => `json_group_array(${value} ORDER BY ${order})`,
  administrators: 'seats INDEXED BY administrators',
  position: (text, part) => `instr(${text}, ${part})`,
  // `instr` on 64 KiB takes ten times as long as reading the text and asking V8.
  narrowsInSql: false,
}
