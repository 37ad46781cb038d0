/** SQLite as the database of the store, in one of its threads. Each call runs to its end before the thread takes another. */

import type { DatabaseSync } from 'node:sqlite'
import type { Database } from '../database.ts'
import type { Part, Statements, Values } from '../statements.ts'
import { feedParameters, feedQuery, feedReading } from '../feed.ts'
import { methodsOf, type StoreMethods } from '../store-methods.ts'
import type { Writer } from '../store.ts'
import {
  AUTHOR,
  authorValues,
  chainOf,
  COUNTER,
  keyAdministers,
  type OpenTransaction,
  Transaction,
} from '../transaction.ts'
import type { RunningCall } from './calls.ts'
import { transact } from './sqlite-connection.ts'
import { sqlite } from './sqlite-dialect.ts'
import { checkOwner, Superseded } from './ownership.ts'
import { PreparedStatements } from './prepared-statements.ts'

const ADMINISTRATION = keyAdministers(sqlite)
const FEED = feedQuery('c.owner,')

/**
 * The store's methods on a connection.
 *
 * @param owner the gateway, as which alone it writes and follows the feed; null for other programs
 */
export function methodsOn(
  connection: DatabaseSync,
  running: RunningCall,
  owner: string | null,
): StoreMethods {
  const prepared = new PreparedStatements(connection)
  const methods = methodsOf(databaseOn(connection, running, owner, prepared))
  if (owner === null) return methods
  return {
    ...methods,
    async changesSince(position) {
      const rows = prepared.all(FEED, feedParameters(position))
      // Same snapshot: no snapshot that names this owner contains writes of another owner.
      if (rows[0]?.owner !== owner) throw new Superseded()
      return feedReading(rows, position)
    },
  }
}

/** @param owner the gateway, as which alone it writes; null for other programs */
export function databaseOn(
  connection: DatabaseSync,
  running: RunningCall,
  owner: string | null = null,
  prepared = new PreparedStatements(connection),
): Database {
  const statements: Statements = {
    all: async (statement, values) => prepared.all(statement, values),
    get: async (statement, values) => prepared.get(statement, values),
  }
  const open: OpenTransaction = {
    ...statements,
    modify,
    get elapsed() {
      return running.elapsed()
    },
  }
  return {
    dialect: sqlite,
    reads: statements,
    lists: {
      ...statements,
      page: async (statement, values, limit) =>
        prepared.page(statement, values, limit, () => running.throwIfExpired()),
    },
    unnumbered: {
      all: (statement, values) => exclusively(() => statements.all(statement, values)),
      get: (statement, values) => exclusively(() => statements.get(statement, values)),
      modify: (parts, result, values) => exclusively(() => modify(parts, result, values)),
      unobserved: (statement, values) =>
        exclusively(async () => void (await statements.all(statement, values))),
    },
    write: (writer, work) => exclusively(async () => work(begun(writer))),
  }

  function exclusively<V>(work: () => Promise<V>): Promise<V> {
    return transact(connection, running.deadline(), () => {
      if (owner !== null) checkOwner(connection, owner)
      return work()
    })
  }

  function begun(writer: Writer | null): Transaction {
    const chain = writer === null ? null : chainOf(writer, prepared.get(AUTHOR, authorValues(writer)))
    return new Transaction(open, ADMINISTRATION, prepared.get(COUNTER, {}), chain)
  }

  async function modify(parts: readonly Part[], result: string, values: Values) {
    for (const part of parts) {
      running.throwIfExpired()
      if (typeof part === 'string') prepared.all(part, values)
      else prepared.insert(part)
    }
    return prepared.all(result, values)
  }
}
