/** What SQLite calls the things that PostgreSQL names otherwise. Used by the readers. */

import type { Dialect } from '../rows.ts'

export const sqlite: Dialect = {
  spacesColumn: 's.spaces',
  list: (value, order) => `json_group_array(${value} ORDER BY ${order})`,
  position: (text, part) => `instr(${text}, ${part})`,
  administrators: 'seats INDEXED BY administrators',
}
