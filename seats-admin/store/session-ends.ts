/**
 * The ends of sessions: by their users, by administrators and by logouts at the provider, which are recorded.
 */

import type { Committed } from '../model/change.ts'
import { sessionNotFound } from '../model/refusal.ts'
import { sessionEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { integerOrNull } from './rows.ts'
import {
  commitSession,
  listedSession,
  lockedSession,
  logoutQueries,
  openSessionsOf,
  sessionChange,
  sessionQueries,
  sinceValues,
} from './session-queries.ts'
import type { SessionStore } from './session-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore } from './store.ts'
import type { Writer } from './writer.ts'

export function sessionEnds(database: Database) {
  const { dialect, reads, unnumbered, write } = database
  const { forUpdate, texts } = dialect
  const endSeveral = `UPDATE sessions SET ended_at = :now, sealed = '' WHERE tenant = :tenant AND id IN (${texts(':ids')})`
  return {
    end: (tenant, id, now) => endOne(database, null, { tenant, id, now }, () => false),

    endByProvider: (author, id) => endOne(database, author, { ...author, id }, (endedAt) => endedAt === null),

    async endSession(author, id) {
      const committed = await endOne(database, author, { ...author, id }, () => true)
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
  } satisfies Partial<SessionStore & AdminStore>
}

interface OneSession {
  readonly tenant: string
  readonly id: string
  /** ms since the epoch */
  readonly now: number
}

/**
 * @param isRecorded whether the audit records it, by the end that the session had before
 * @returns null for an unknown session
 */
function endOne(
  { dialect, write }: Database,
  author: Writer | null,
  { tenant, id: wanted, now }: OneSession,
  isRecorded: (endedAt: number | null) => boolean,
): Promise<Committed | null> {
  const id = storableOrEmpty(wanted)
  return write(author, async (transaction) => {
    const row = await transaction.get(lockedSession(dialect), { tenant, id })
    if (row === undefined) return null
    const endedAt = integerOrNull(row, 'ended_at')
    if (isRecorded(endedAt)) transaction.record(sessionEvent(listedSession(row), endedAt, now))
    return commitSession(transaction, sessionQueries.end, { tenant, id, now })
  })
}
