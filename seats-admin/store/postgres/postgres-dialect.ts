/** PostgreSQL's variants of the shared SQL. */

import { createHash } from 'node:crypto'
import { PAGE_TEXT } from '../pages.ts'
import type { Dialect } from '../rows.ts'

/** The first of the two integers of the advisory lock of a tenant's sessions, "sess" in ASCII. */
const SESSIONS = 0x73657373
const ofTenant = `(${SESSIONS}, hashtext(:tenant))`

export const postgres: Dialect = {
  spacesColumn: 's.short_spaces',
  list: (value, order) => `coalesce(json_agg(${value} ORDER BY ${order})::text, '[]')`,
  texts: (parameter) => `SELECT json_array_elements_text(${parameter}::json)`,
  among: (table, keys, column, parameter) =>
    `l.ctid = ANY (ARRAY (SELECT l.ctid FROM (SELECT json_array_elements_text(${parameter}::json) AS value) w
      CROSS JOIN LATERAL (SELECT ctid FROM ${table} l WHERE ${keys} AND l.${column} = w.value OFFSET 0) l))`,
  records(parameter, name, columns) {
    const typed = Object.entries(columns).map((column) => column.join(' '))
    return `json_to_recordset(${parameter}::json) AS ${name} (${typed.join(', ')})`
  },
  page(rows, large, order) {
    const size = large.map((column) => `coalesce(octet_length(p.${column}), 0)`).join(' + ')
    return `SELECT * FROM (
        SELECT p.*, count(*) OVER () AS total, sum(${size}) OVER (ORDER BY p.id ${order}) - (${size}) AS ahead FROM (${rows}) p
      ) q WHERE q.ahead < ${PAGE_TEXT} ORDER BY q.id ${order} LIMIT :limit`
  },
  forUpdate: 'FOR NO KEY UPDATE',
  skipLocked: 'FOR NO KEY UPDATE SKIP LOCKED',
  ifNoSoleLock: `FROM pg_try_advisory_xact_lock_shared${ofTenant} AS free WHERE free`,
  soleLock: `pg_advisory_xact_lock${ofTenant} AS locked,`,
  // Versions without blocks record no content hash of their tables.
  instanceWithoutBlocks: 'SELECT name FROM instances WHERE config IS NULL AND beat > 0 ORDER BY name LIMIT 1',
  instanceWithout: `SELECT name FROM instances
    WHERE beat > 0 AND strpos(coalesce(understands, ''), :understands) = 0 ORDER BY name LIMIT 1`,
  instanceWithOtherTables: `SELECT name, tables_from FROM instances
    WHERE beat > 0 AND tables_from IS DISTINCT FROM :tables_from ORDER BY name LIMIT 1`,
  instanceWithTables: `SELECT name, tables_from FROM instances
    WHERE beat > 0 AND tables_from = :tables_from ORDER BY name LIMIT 1`,
  clock: '(extract(epoch FROM clock_timestamp()) * 1000)::bigint',
  position: (text, part) => `strpos(${text}, ${part})`,
  // OFFSET 0 keeps the planner from joining by a scan of the whole table.
  lookup: (table, condition, alias = 'l') =>
    `CROSS JOIN LATERAL (SELECT * FROM ${table} ${alias} WHERE ${condition} OFFSET 0) ${alias}`,
  // Only the index of names has this order.
  seatNamed: (name) =>
    `CROSS JOIN LATERAL (SELECT * FROM (SELECT tenant, id AS seat_id, name FROM seats
      WHERE tenant = :tenant AND name >= ${name} ORDER BY tenant, name LIMIT 1) l WHERE l.name = ${name} OFFSET 0) l`,
  isMember: (sub) => `l.user_digest = sha256(convert_to(${sub}, 'UTF8'))`,
  member: "encode(l.user_digest, 'hex')",
  memberOf: (sub) => createHash('sha256').update(sub).digest('hex'),
  memberColumn: 'user_digest',
  // An index can hold no longer key, and any `sub` counts as a member.
  memberKey: (sub) => createHash('sha256').update(sub).digest(),
  hasAsterisk: (text) => `strpos(${text}, '*') > 0`,
  narrowsInSql: true,
  administrators: 'seats',
  wildcards: 'seats s',
}
