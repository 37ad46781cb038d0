/**
 * Sign-in sessions in the shared store.
 *
 * A write without a row in the feed is one statement under a row lock, on a separate pool, so that writes to Seats never
 * wait for sign-ins. A write with a row in the feed locks the counter first and then the row. No transaction waits for the
 * counter while it holds the row.
 *
 * A statement may be repeated after a lost response. `create` and `rotate` recognize their own first execution; the others
 * then change nothing.
 */

import { integer } from '../rows.ts'
import { sessionOrNull, sessionValues, storedSession } from '../session-rows.ts'
import type { Rotation, SessionStore } from '../session-store.ts'
import {
  CLAIM,
  CREATE,
  FIND,
  GIVE_BACK,
  idTaken,
  outcomeOf,
  USE,
  type Use,
  useOf,
} from '../session-writes.ts'
import type { Connection } from './connection.ts'
import { storableOrEmpty } from './dialect.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { endSession, renewSession, rotateInTurn } from './session-writer.ts'
import { type Sql, sql, type Values } from './sql.ts'

const INSERT = sql(CREATE)
const WHOLE = sql(FIND)
const HANDLE_USE = sql(USE)
const HANDLE_RETURN = sql(GIVE_BACK)
const RENEWAL_CLAIM = sql(CLAIM)

/** Skips locked rows, so that concurrent prunes share the work. */
const PRUNE = sql(
  `WITH old AS MATERIALIZED (SELECT tenant, id FROM sessions WHERE expires_at < :before
     ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED),
   gone AS (DELETE FROM sessions s USING old WHERE s.tenant = old.tenant AND s.id = old.id RETURNING 1)
   SELECT count(*) AS gone FROM gone`,
)

export function sessionsOf(pools: ConnectionPools): Omit<SessionStore, 'readSession'> {
  const query = (question: Sql, values: Values) => pools.query(pools.signIns, question, values)
  return {
    async sessionById(tenant, id) {
      return sessionOrNull((await pools.query(pools.reads, WHOLE, { tenant, id: storableOrEmpty(id) }))[0])
    },

    async create(session) {
      if ((await query(INSERT, sessionValues(session))).length === 0) throw idTaken()
    },

    /** Locks the counter only to end a family: a request without a secret of the family never gets that far. */
    async rotate(tenant, id, proof, next, now) {
      const asked = useOf(tenant, storableOrEmpty(id), proof, next, now)
      const rotation = await pools.runRetryable(pools.signIns, (connection) =>
        rotateAtOnce(connection, asked),
      )
      return rotation ?? pools.write((transaction) => rotateInTurn(transaction, asked))
    },

    async giveBack(tenant, id, from, to, sealed) {
      const values = { tenant, id: storableOrEmpty(id), from_hash: from, to_hash: to, sealed }
      return (await query(HANDLE_RETURN, values)).length > 0
    },

    async claimRenewal(tenant, id, now, until) {
      return sessionOrNull((await query(RENEWAL_CLAIM, { tenant, id: storableOrEmpty(id), now, until }))[0])
    },

    renew: (tenant, id, handle, renewal) =>
      pools.write((transaction) => renewSession(transaction, tenant, storableOrEmpty(id), handle, renewal)),

    end: (tenant, id, now) =>
      pools.write((transaction) => endSession(transaction, tenant, storableOrEmpty(id), now)),

    async prune(before, limit) {
      const [row] = await query(PRUNE, { before, limit })
      return row === undefined ? 0 : integer(row, 'gone')
    },
  }
}

/** @returns null when the decision or the end of the family requires the counter's lock */
async function rotateAtOnce(connection: Connection, asked: Use): Promise<Rotation | null> {
  const [row] = await connection.query(HANDLE_USE, asked)
  if (row !== undefined) return { outcome: 'rotated', session: storedSession(row) }
  const outcome = outcomeOf((await connection.query(WHOLE, asked))[0], asked)
  return outcome === 'rotated' || outcome === 'replayed' ? null : { outcome }
}
