/**
 * Finds poolers whose clients share sessions, as PgBouncer's in transaction and statement mode. A setting
 * that this program made there would be left to other programs, and its own statements would run with theirs.
 * Nothing is set, and no transaction begins: in statement mode that ends a session of the server.
 */

import { UnusableStore } from '../unavailable.ts'
import { Connection, type Session } from './postgres-connection.ts'
import { tooLate } from './postgres-errors.ts'
import type { Target } from './url.ts'

const FOUND = 'it is a connection pooler in transaction or statement mode: sessions are required'
const SESSION = 'SELECT pg_backend_pid() AS process'
/**
 * The two connections in the order in which they ask. Poolers give the session that came free last, or each
 * in turn: then one connection gets the session of the other, or two different ones in a row.
 */
const ORDER = ['first', 'other', 'other', 'first', 'first', 'other', 'other', 'first'] as const

/**
 * To be passed to {@link Connection.open}. Costs one response of a server that is no pooler; of a pooler in
 * session mode, one more connection.
 */
export function requireOwnSession(target: Target, session: Session) {
  return async (first: Connection): Promise<void> => {
    if (first.namedProcess === (await processOf(first))) return
    const other = await Connection.openBare(target, session)
    // Without a session that is free, a pooler does not answer.
    let late = false
    const timer = setTimeout(() => {
      late = true
      other.destroy()
    }, session.answerTimeout)
    try {
      if (await areShared({ first, other })) throw new UnusableStore('SHARED_SESSIONS', FOUND)
    } catch (cause) {
      if (late)
        throw tooLate(target.place, `the pooler gives no second session within ${session.answerTimeout} ms`)
      throw cause
    } finally {
      clearTimeout(timer)
      other.destroy()
    }
  }
}

async function areShared(connections: Record<'first' | 'other', Connection>): Promise<boolean> {
  const seen = { first: new Set<unknown>(), other: new Set<unknown>() }
  for (const name of ORDER) {
    seen[name].add(await processOf(connections[name]))
    const { first, other } = seen
    if (first.size > 1 || other.size > 1 || !first.isDisjointFrom(other)) return true
  }
  return false
}

async function processOf(connection: Connection): Promise<unknown> {
  // Without parameters and name: a pooler may not know prepared statements.
  return (await connection.run(SESSION)).rows[0]?.process
}
