/**
 * The ends of sessions: by their users, by administrators and by logouts at the provider, which are recorded.
 */

import type { Committed } from '../model/change.ts'
import { sessionNotFound } from '../model/refusal.ts'
import { sessionEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { endings } from './endings.ts'
import { integerOrNull } from './rows.ts'
import {
  listedSession,
  lockedSession,
  logoutQueries,
  openSessionsOf,
  sinceValues,
} from './session-queries.ts'
import type { SessionStore } from './session-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore } from './store.ts'
import type { Writer } from './writer.ts'

export function sessionEnds(database: Database) {
  const { dialect, reads, unnumbered, write } = database
  const { forUpdate } = dialect
  const { endSessions } = endings(dialect)
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
        return { ...(await transaction.commitEffect(endSessions(tenant, ids, now))), value }
      })
    },

    async recordLogout(tenant, digest, at) {
      await unnumbered.all(logoutQueries.record, { tenant, digest, at })
    },

    async openSessions(tenant, subject, limit) {
      const { statement, values } = openSessionsOf(subject)
      return (await reads.all(statement, { tenant, limit, ...values })).map(listedSession)
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
    return transaction.commitEffect(endings(dialect).endSessions(tenant, [id], now))
  })
}
