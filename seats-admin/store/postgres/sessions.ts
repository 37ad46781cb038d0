/**
 * Sign-in sessions in the shared store.
 *
 * A write without a row in the feed is one statement under a row lock, on a separate pool, so that writes to Seats never
 * wait for sign-ins. A write with a row in the feed locks the counter first, then the row, and then reads the row. No
 * transaction waits for the counter while it holds the row.
 *
 * A statement may be repeated after a lost response. `create` and `rotate` recognize their own first execution; the others
 * then change nothing.
 */

import type { Committed } from '../../model/change.ts'
import { sessionNotFound } from '../../model/refusal.ts'
import { sessionEvent } from '../audit-forms.ts'
import { integer, integerOrNull, type Row } from '../rows.ts'
import { logoutQueries, sessionsOfSubject, sinceValues } from '../session-logouts.ts'
import { listedSession, renewalValues, sessionOrNull, sessionValues, storedSession } from '../session-rows.ts'
import type { Rotation, SessionStore } from '../session-store.ts'
import {
  idTaken,
  mayRenew,
  outcomeOf,
  sessionChange,
  sessionQueries,
  type Use,
  useOf,
} from '../session-writes.ts'
import { storableOrEmpty } from '../storable-text.ts'
import type { AdminStore } from '../store.ts'
import type { Connection } from './connection.ts'
import type { ConnectionPools } from './connection-pools.ts'
import { storableWriter } from './dialect.ts'
import { type Sql, sql, type Values } from './sql.ts'
import { logged, recorded, type Transaction } from './transaction.ts'

const CREATE = sql(sessionQueries.create)
const FIND = sql(sessionQueries.find)
const LOCK = sql(`${sessionQueries.find} FOR UPDATE`)
const USE = sql(sessionQueries.use)
const GIVE_BACK = sql(sessionQueries.giveBack)
const CLAIM = sql(sessionQueries.claim)
const RENEW = logged(`renewed AS (${sessionQueries.renew}),`)
const END = logged(`ended AS (${sessionQueries.end}),`)

const OPEN_SESSIONS = {
  ofProviderSession: sql(`${logoutQueries.ofProviderSession} FOR UPDATE`),
  ofUser: sql(`${logoutQueries.ofUser} FOR UPDATE`),
}
const END_RECORDED = recorded(`ended AS (${sessionQueries.end}),`)
const END_THESE = recorded(
  `ended AS (UPDATE sessions SET ended_at = :now, sealed = '' WHERE tenant = :tenant AND id = ANY (:ids::text[])),`,
)
const RECORD_LOGOUT = sql(logoutQueries.record)
const LOGGED_OUT_SINCE = sql(logoutQueries.since)
const RECORD_TOKEN = sql(logoutQueries.recordToken)
const PRUNE_LOGOUTS = sql(logoutQueries.prune)

/** Skips locked rows, so that concurrent prunes share the work. */
const PRUNE = sql(
  `WITH old AS MATERIALIZED (SELECT tenant, id FROM sessions WHERE expires_at < :before
     ORDER BY expires_at LIMIT :limit FOR UPDATE SKIP LOCKED),
   gone AS (DELETE FROM sessions s USING old WHERE s.tenant = old.tenant AND s.id = old.id RETURNING 1)
   SELECT count(*) AS gone FROM gone`,
)

export function sessionEndsOf(pools: ConnectionPools): Pick<AdminStore, 'endSession'> {
  return {
    endSession(given, wantedId) {
      const writer = storableWriter(given)
      const { tenant, now } = writer
      const id = storableOrEmpty(wantedId)
      return pools.write(async (transaction) => {
        const row = await locked(transaction, tenant, id)
        if (row === undefined) return sessionNotFound
        transaction.record(sessionEvent(listedSession(row), integerOrNull(row, 'ended_at'), now), now)
        return { ...(await write(transaction, END_RECORDED, tenant, id, { now })), value: null }
      }, writer)
    },
  }
}

export function sessionsOf(pools: ConnectionPools): Omit<SessionStore, 'readSession'> {
  const query = (question: Sql, values: Values) => pools.query(pools.signIns, question, values)
  return {
    async sessionById(tenant, id) {
      return sessionOrNull((await pools.query(pools.reads, FIND, { tenant, id: storableOrEmpty(id) }))[0])
    },

    async create(session) {
      if ((await query(CREATE, sessionValues(session))).length === 0) throw idTaken()
    },

    /** Locks the counter only to end a family: a request without a secret of the family never gets that far. */
    async rotate(given, id, proof, next) {
      const author = storableWriter(given)
      const asked = useOf(author, storableOrEmpty(id), proof, next)
      const rotation = await pools.runRetryable(pools.signIns, (connection) =>
        rotateAtOnce(connection, asked),
      )
      return rotation ?? pools.write((transaction) => rotateInTurn(transaction, asked), author)
    },

    async giveBack(tenant, id, from, to, sealed) {
      const values = { tenant, id: storableOrEmpty(id), from_hash: from, to_hash: to, sealed }
      return (await query(GIVE_BACK, values)).length > 0
    },

    async claimRenewal(tenant, id, now, until) {
      return sessionOrNull((await query(CLAIM, { tenant, id: storableOrEmpty(id), now, until }))[0])
    },

    renew: (tenant, wantedId, handle, renewal) => {
      const id = storableOrEmpty(wantedId)
      return pools.write(async (transaction) => {
        if (!mayRenew(sessionOrNull(await locked(transaction, tenant, id)), handle)) return null
        return write(transaction, RENEW, tenant, id, renewalValues(renewal))
      })
    },

    end: (tenant, wantedId, now) => {
      const id = storableOrEmpty(wantedId)
      return pools.write(async (transaction) => {
        if ((await locked(transaction, tenant, id)) === undefined) return null
        return write(transaction, END, tenant, id, { now })
      })
    },

    endByProvider(given, wantedId) {
      const author = storableWriter(given)
      const { tenant, now } = author
      const id = storableOrEmpty(wantedId)
      return pools.write(async (transaction) => {
        const row = await locked(transaction, tenant, id)
        if (row === undefined) return null
        if (integerOrNull(row, 'ended_at') !== null) return write(transaction, END, tenant, id, { now })
        transaction.record(sessionEvent(listedSession(row), null, now), now)
        return write(transaction, END_RECORDED, tenant, id, { now })
      }, author)
    },

    endSome(given, subject, limit) {
      const author = storableWriter(given)
      const { tenant, now } = author
      const { query: found, values } = sessionsOfSubject(subject)
      return pools.write(async (transaction) => {
        const rows = await transaction.query(OPEN_SESSIONS[found], { tenant, limit, ...values })
        const value = rows.map(listedSession)
        if (value.length === 0) return null
        for (const session of value) transaction.record(sessionEvent(session, null, now), now)
        const ids = value.map(({ id }) => id)
        const changes = ids.map((id) => sessionChange(tenant, id))
        return { ...(await transaction.write(END_THESE, changes, { tenant, ids, now })), value }
      }, author)
    },

    async recordLogout(tenant, digest, at) {
      await query(RECORD_LOGOUT, { tenant, digest, at })
    },

    loggedOutSince: async (tenant, logout, or) =>
      (await query(LOGGED_OUT_SINCE, sinceValues(tenant, logout, or))).length > 0,

    recordToken: async (tenant, digest, at) => (await query(RECORD_TOKEN, { tenant, digest, at })).length > 0,

    async prune(before, limit) {
      await query(PRUNE_LOGOUTS, { before })
      const [row] = await query(PRUNE, { before, limit })
      return row === undefined ? 0 : integer(row, 'gone')
    },
  }
}

/** @returns null when the decision or the end of the family requires the counter's lock */
async function rotateAtOnce(connection: Connection, asked: Use): Promise<Rotation | null> {
  const [row] = await connection.query(USE, asked)
  if (row !== undefined) return { outcome: 'rotated', session: storedSession(row) }
  const outcome = outcomeOf((await connection.query(FIND, asked))[0], asked)
  return outcome === 'rotated' || outcome === 'replayed' ? null : { outcome }
}

/** For a handle that was not valid in a first check. It may have been restored since. */
async function rotateInTurn(transaction: Transaction, asked: Use): Promise<Rotation> {
  const { tenant, id, now } = asked
  const found = await locked(transaction, tenant, id)
  if (found === undefined) return { outcome: 'unknown' }
  const outcome = outcomeOf(found, asked)
  if (outcome === 'replayed') {
    const session = listedSession(found)
    transaction.record(sessionEvent(session, null, now), now)
    const committed = await write(transaction, END_RECORDED, tenant, id, { now })
    return { outcome, committed, user: session.user }
  }
  if (outcome !== 'rotated') return { outcome }
  const [row] = await transaction.query(USE, asked)
  if (row === undefined) throw new Error('the session changed while its row was locked')
  return { outcome, session: storedSession(row) }
}

async function locked(transaction: Transaction, tenant: string, id: string): Promise<Row | undefined> {
  return (await transaction.query(LOCK, { tenant, id }))[0]
}

function write(
  transaction: Transaction,
  work: Sql,
  tenant: string,
  id: string,
  values: Values,
): Promise<Committed> {
  return transaction.write(work, [sessionChange(tenant, id)], { ...values, tenant, id })
}
