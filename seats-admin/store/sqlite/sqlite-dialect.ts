/** SQLite's variants of the shared SQL. */

import type { Dialect } from '../rows.ts'

export const sqlite: Dialect = {
  spacesColumn: 's.spaces',
  list: (value, order) => `json_group_array(${value} ORDER BY ${order})`,
  texts: (parameter) => `SELECT value FROM json_each(${parameter})`,
  records(parameter, name, columns) {
    const selected = Object.keys(columns).map((column) => `value ->> '${column}' AS ${column}`)
    return `(SELECT ${selected.join(', ')} FROM json_each(${parameter})) AS ${name}`
  },
  // The driver reads one row at a time, and stops.
  page: (rows) => rows,
  // A write excludes all others.
  forUpdate: '',
  skipLocked: '',
  instanceWithoutBlocks: null,
  administrators: 'seats INDEXED BY administrators',
  clock: "CAST(unixepoch('subsec') * 1000 AS INTEGER)",
  wildcards: 'seats s INDEXED BY wildcards',
  position: (text, part) => `instr(${text}, ${part})`,
  // The order of a CROSS JOIN is kept.
  lookup: (table, condition) => `CROSS JOIN ${table} l ON ${condition}`,
  isMember: (sub) => `l.user = ${sub}`,
  member: 'l.user',
  memberOf: (sub) => sub,
  memberColumn: 'user',
  memberKey: (sub) => sub,
  // `LIKE` searches for its first literal character by `strcspn`, `instr` compares at each position.
  hasAsterisk: (text) => `${text} LIKE '%*%'`,
  // `instr` on 64 KiB takes ten times as long as reading the text and asking V8.
  narrowsInSql: false,
}
