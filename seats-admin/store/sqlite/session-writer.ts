/** Writes to sessions. Run in the writer's thread, each in its own transaction. */

import type { DatabaseSync } from 'node:sqlite'
import type { Committed } from '../../model/change.ts'
import type { Row } from '../rows.ts'
import { renewalValues, sessionOrNull, sessionValues, storedSession } from '../session-rows.ts'
import type { SessionStore } from '../session-store.ts'
import { idTaken, mayRenew, outcomeOf, sessionChange, sessionQueries, useOf } from '../session-writes.ts'
import type { Synchronous } from './calls.ts'
import type { ChangeLog } from './change-log.ts'
import { prepareAll } from './connection.ts'

const QUERIES = {
  ...sessionQueries,
  prune: `DELETE FROM sessions WHERE rowid IN
    (SELECT rowid FROM sessions WHERE expires_at < ? ORDER BY expires_at LIMIT ?)`,
}

export function sessionWrites(
  database: DatabaseSync,
  log: ChangeLog,
): Synchronous<Omit<SessionStore, 'readSession' | 'sessionById'>> {
  const statements = prepareAll(database, QUERIES)
  return {
    create(session) {
      if (statements.create.get(sessionValues(session)) === undefined) throw idTaken()
    },

    rotate(tenant, id, proof, next, now) {
      const asked = useOf(tenant, id, proof, next, now)
      const row = statements.use.get(asked)
      if (row !== undefined) return { outcome: 'rotated', session: storedSession(row) }
      const outcome = outcomeOf(find(tenant, id), asked)
      if (outcome === 'rotated') throw new Error('the session changed during a transaction')
      if (outcome === 'replayed') return { outcome, committed: ended(tenant, id, now) }
      return { outcome }
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

    prune: (before, limit) => Number(statements.prune.run(before, limit).changes),
  }

  function ended(tenant: string, id: string, now: number): Committed {
    statements.end.run({ tenant, id, now })
    return changed(tenant, id)
  }

  function changed(tenant: string, id: string): Committed {
    return log.append([sessionChange(tenant, id)])
  }

  function find(tenant: string, id: string): Row | undefined {
    return statements.find.get({ tenant, id })
  }
}
