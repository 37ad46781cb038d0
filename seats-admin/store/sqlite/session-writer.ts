/** Writes to sessions. Run in the writer's thread, each in its own transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { Committed } from '../../model/change.ts'
import { sessionNotFound } from '../../model/refusal.ts'
import type { ListedSession } from '../../model/session.ts'
import { sessionEvent } from '../audit-forms.ts'
import { integerOrNull, type Row } from '../rows.ts'
import { logoutQueries, sessionsOfSubject } from '../session-logouts.ts'
import { listedSession, renewalValues, sessionOrNull, sessionValues, storedSession } from '../session-rows.ts'
import type { SessionStore } from '../session-store.ts'
import type { AdminStore, Writer } from '../store.ts'
import { idTaken, mayRenew, outcomeOf, sessionChange, sessionQueries, useOf } from '../session-writes.ts'
import type { Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'

const { prune: pruneLogouts, since: _since, ...logouts } = logoutQueries

const QUERIES = {
  ...sessionQueries,
  ...logouts,
  pruneLogouts,
  prune: `DELETE FROM sessions WHERE rowid IN
    (SELECT rowid FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
}

type ReadOnly = 'readSession' | 'sessionById' | 'loggedOutSince'

export function sessionWrites(
  database: DatabaseSync,
  log: ChangeLog,
): Synchronous<Omit<SessionStore, ReadOnly> & Pick<AdminStore, 'endSession'>> {
  const statements = prepareAll(database, QUERIES)
  return {
    create(session) {
      if (statements.create.get(sessionValues(session)) === undefined) throw idTaken()
    },

    rotate(author, id, proof, next) {
      const asked = useOf(author, id, proof, next)
      const used = statements.use.get(asked)
      if (used !== undefined) return { outcome: 'rotated', session: storedSession(used) }
      const row = find(author.tenant, id)
      if (row === undefined) return { outcome: 'unknown' }
      const outcome = outcomeOf(row, asked)
      if (outcome === 'rotated') throw new Error('the session changed during a transaction')
      if (outcome !== 'replayed') return { outcome }
      const session = listedSession(row)
      return { outcome, committed: endedBy(author, [session]), user: session.user }
    },

    giveBack: (tenant, id, from, to, sealed) =>
      statements.giveBack.get({ tenant, id, from_hash: from, to_hash: to, sealed }) !== undefined,

    claimRenewal: (tenant, id, now, until) => sessionOrNull(statements.claim.get({ tenant, id, now, until })),

    renew(tenant, id, handle, renewal) {
      if (!mayRenew(sessionOrNull(find(tenant, id)), handle)) return null
      statements.renew.run({ tenant, id, ...renewalValues(renewal) })
      return changed(tenant, id)
    },

    end: (tenant, id, now) => (find(tenant, id) === undefined ? null : ended(tenant, id, now)),

    endByProvider(author, id) {
      const { tenant, now } = author
      const row = find(tenant, id)
      if (row === undefined) return null
      const isOpen = integerOrNull(row, 'ended_at') === null
      return isOpen ? endedBy(author, [listedSession(row)]) : ended(tenant, id, now)
    },

    endSession(writer, id) {
      const { tenant, now } = writer
      const row = find(tenant, id)
      if (row === undefined) return sessionNotFound
      const event = sessionEvent(listedSession(row), integerOrNull(row, 'ended_at'), now)
      statements.end.run({ tenant, id, now })
      return { ...log.record(writer, [event], [sessionChange(tenant, id)]), value: null }
    },

    endSome(author, subject, limit) {
      const { query, values } = sessionsOfSubject(subject)
      const { tenant } = author
      const sessions = statements[query].all({ tenant, limit, ...values }).map(listedSession)
      return sessions.length === 0 ? null : { ...endedBy(author, sessions), value: sessions }
    },

    recordLogout: (tenant, digest, at) => void statements.record.run({ tenant, digest, at }),

    recordToken: (tenant, digest, at) => statements.recordToken.get({ tenant, digest, at }) !== undefined,

    prune(before, limit) {
      statements.pruneLogouts.run({ before })
      return Number(statements.prune.run(before, limit).changes)
    },
  }

  function ended(tenant: string, id: string, now: number): Committed {
    statements.end.run({ tenant, id, now })
    return changed(tenant, id)
  }

  /** @param sessions none of them has ended */
  function endedBy(author: Writer, sessions: readonly ListedSession[]): Committed {
    const { tenant, now } = author
    for (const { id } of sessions) statements.end.run({ tenant, id, now })
    const events = sessions.map((session) => sessionEvent(session, null, now))
    return log.record(
      author,
      events,
      sessions.map(({ id }) => sessionChange(tenant, id)),
    )
  }

  function changed(tenant: string, id: string): Committed {
    return log.append([sessionChange(tenant, id)])
  }

  function find(tenant: string, id: string): Row | undefined {
    return statements.find.get({ tenant, id })
  }
}
