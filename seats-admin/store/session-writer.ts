/**
 * Writes to sign-in sessions.
 *
 * A write without a row in the feed is one statement, which in PostgreSQL locks its row alone, so that writes to Seats never
 * wait for sign-ins. A write with a row in the feed excludes the other numbered writes first, then locks the row, and then
 * reads it. No transaction waits for the former while it holds the row.
 *
 * A statement may be repeated after a lost response. `create` and `rotate` recognize their own first execution; the others
 * then change nothing.
 */

import type { Committed } from '../model/change.ts'
import { sessionNotFound } from '../model/refusal.ts'
import { sessionEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import type { Values } from './statements.ts'
import { integerOrNull, type Row } from './rows.ts'
import {
  listedSession,
  logoutQueries,
  mayRenew,
  openSessionsOf,
  outcomeOf,
  renewalValues,
  sessionChange,
  sessionOrNull,
  sessionQueries,
  sessionValues,
  sinceValues,
  storedSession,
  type Use,
  useOf,
} from './session-queries.ts'
import type { Rotation, SessionStore } from './session-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore } from './store.ts'
import type { Transaction } from './transaction.ts'
import type { Writer } from './writer.ts'

export function sessionWriter({ dialect, reads, unnumbered, write }: Database) {
  const { find, use, renew, end } = sessionQueries
  const { forUpdate, skipLocked, texts } = dialect
  const lock = `${find} ${forUpdate}`
  const endSeveral = `UPDATE sessions SET ended_at = :now, sealed = '' WHERE tenant = :tenant AND id IN (${texts(':ids')})`
  // Without locked rows, so that concurrent calls share the work.
  const prune = `WITH old AS MATERIALIZED (SELECT tenant, id FROM sessions WHERE expires_at < :before
      ORDER BY expires_at LIMIT :limit ${skipLocked})
    DELETE FROM sessions WHERE (tenant, id) IN (SELECT tenant, id FROM old) RETURNING 1 AS gone`
  return {
    sessionById: async (tenant, id) =>
      sessionOrNull(await reads.get(find, { tenant, id: storableOrEmpty(id) })),

    async create(session) {
      const row = await unnumbered.get(sessionQueries.create, sessionValues(session))
      // Ids are random, so this indicates a bug.
      if (row === undefined) throw new Error('another session has this id')
    },

    /** Excludes numbered writes only to end a family: a request without a secret of the family never gets that far. */
    async rotate(author, id, proof, next) {
      const asked = useOf(author, storableOrEmpty(id), proof, next)
      const rotation = await rotateAtOnce(asked)
      return rotation ?? write(author, (transaction) => rotateInTurn(transaction, asked))
    },

    async giveBack(tenant, id, from, to, sealed) {
      const values = { tenant, id: storableOrEmpty(id), from_hash: from, to_hash: to, sealed }
      return (await unnumbered.get(sessionQueries.giveBack, values)) !== undefined
    },

    async claimRenewal(tenant, id, now, until) {
      const values = { tenant, id: storableOrEmpty(id), now, until }
      return sessionOrNull(await unnumbered.get(sessionQueries.claim, values))
    },

    renew(tenant, wantedId, handle, renewal) {
      const id = storableOrEmpty(wantedId)
      return write(null, async (transaction) => {
        const session = sessionOrNull(await locked(transaction, tenant, id))
        return mayRenew(session, handle)
          ? changed(transaction, renew, tenant, id, renewalValues(renewal))
          : null
      })
    },

    end: (tenant, id, now) => ended(null, tenant, id, now, () => false),

    endByProvider: (author, id) =>
      ended(author, author.tenant, id, author.now, (endedAt) => endedAt === null),

    async endSession(author, id) {
      const committed = await ended(author, author.tenant, id, author.now, () => true)
      return committed === null ? sessionNotFound : { ...committed, value: null }
    },

    endSome(author, subject, limit) {
      const { tenant, now } = author
      const { statement, values } = openSessionsOf(subject)
      return write(author, async (transaction) => {
        const rows = await transaction.all(`${statement} ${forUpdate}`, { tenant, limit, ...values })
        const value = rows.map(listedSession)
        if (value.length === 0) return { ...transaction.unchanged, value }
        for (const session of value) transaction.record(sessionEvent(session, null, now))
        const ids = value.map(({ id }) => id)
        const changes = ids.map((id) => sessionChange(tenant, id))
        const ended = { tenant, ids: JSON.stringify(ids), now }
        return { ...(await transaction.commit([endSeveral], changes, ended)), value }
      })
    },

    async recordLogout(tenant, digest, at) {
      await unnumbered.all(logoutQueries.record, { tenant, digest, at })
    },

    loggedOutSince: async (tenant, logout, or) =>
      (await reads.get(logoutQueries.since, sinceValues(tenant, logout, or))) !== undefined,

    recordToken: async (tenant, digest, at) =>
      (await unnumbered.get(logoutQueries.recordToken, { tenant, digest, at })) !== undefined,

    async prune(before, limit) {
      await unnumbered.all(logoutQueries.prune, { before })
      return (await unnumbered.all(prune, { before, limit })).length
    },
  } satisfies Partial<SessionStore & AdminStore>

  /** @returns null when the decision or the end of the family needs a numbered write */
  async function rotateAtOnce(asked: Use): Promise<Rotation | null> {
    const row = await unnumbered.get(use, asked)
    if (row !== undefined) return { outcome: 'rotated', session: storedSession(row) }
    const outcome = outcomeOf(await unnumbered.get(find, asked), asked)
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
      transaction.record(sessionEvent(session, null, now))
      const committed = await changed(transaction, end, tenant, id, { now })
      return { outcome, committed, user: session.user }
    }
    if (outcome !== 'rotated') return { outcome }
    const row = await transaction.get(use, asked)
    if (row === undefined) throw new Error('the session changed while its row was locked')
    return { outcome, session: storedSession(row) }
  }

  /**
   * @param isRecorded whether the audit records it, by the end that the session had before
   * @returns null for an unknown session
   */
  function ended(
    author: Writer | null,
    tenant: string,
    wantedId: string,
    now: number,
    isRecorded: (endedAt: number | null) => boolean,
  ): Promise<Committed | null> {
    const id = storableOrEmpty(wantedId)
    return write(author, async (transaction) => {
      const row = await locked(transaction, tenant, id)
      if (row === undefined) return null
      const endedAt = integerOrNull(row, 'ended_at')
      if (isRecorded(endedAt)) transaction.record(sessionEvent(listedSession(row), endedAt, now))
      return changed(transaction, end, tenant, id, { now })
    })
  }

  function locked(transaction: Transaction, tenant: string, id: string): Promise<Row | undefined> {
    return transaction.get(lock, { tenant, id })
  }
}

/** Commits the change of one session. */
function changed(
  transaction: Transaction,
  statement: string,
  tenant: string,
  id: string,
  values: Values,
): Promise<Committed> {
  return transaction.commit([statement], [sessionChange(tenant, id)], { ...values, tenant, id })
}
