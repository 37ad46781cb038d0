/** PostgreSQL as the database of the store. */

import type { Database, Page } from '../database.ts'
import type { Statements, Values } from '../statements.ts'
import type { Row } from '../rows.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { postgres } from './postgres-dialect.ts'
import type { Pool } from './postgres-pool.ts'
import { prepared, remembered, type Sql, sql } from './sql.ts'
import { composed } from './postgres-transaction.ts'

export function databaseOf(pools: ConnectionPools): Database {
  const parsed = remembered(sql)
  const signIns = statementsOf(pools.signIns, parsed)
  const lists = statementsOf(pools.administration, parsed)
  return {
    dialect: postgres,
    reads: statementsOf(pools.reads, remembered(prepared)),
    lists: { ...lists, page: async (statement, values) => pageOf(await lists.all(statement, values)) },
    unnumbered: {
      ...signIns,
      modify: (parts, result, values) => signIns.all(...composed(parts, result, values)),
      async unobserved(statement, values) {
        await pools.queryUnobserved(pools.signIns, parsed(statement), values)
      },
    },
    write: (writer, work, patience) => pools.write(work, writer, patience),
  }

  function statementsOf(pool: Pool, convert: (statement: string) => Sql): Statements {
    const all = (statement: string, values: Values) => pools.query(pool, convert(statement), values)
    return { all, get: async (statement, values) => (await all(statement, values))[0] }
  }
}

/** `found`: the number of rows before the page was cut. */
function pageOf(rows: Row[]): Page {
  const found = rows[0]?.found
  return { rows, hasMore: typeof found === 'number' && found > rows.length }
}
