/**
 * Writes to sign-in sessions.
 *
 * A write without a row in the feed is one statement, which in PostgreSQL locks its row alone, so that writes
 * to Seats never wait for sign-ins. A write with a row in the feed excludes the other numbered writes first,
 * then locks the row, and then reads it. No transaction waits for the former while it holds the row.
 *
 * A statement may be repeated after a lost response. `create` and `rotate` recognize their own first
 * execution; the others then change nothing.
 */

import { setTimeout } from 'node:timers/promises'
import type { Database } from './database.ts'
import { sessionChange } from './endings.ts'
import { handleRotation } from './handle-rotation.ts'
import { sessionEnds } from './session-ends.ts'
import {
  creation,
  lockedSession,
  logoutQueries,
  mayRenew,
  renewalValues,
  sessionOrNull,
  sessionQueries,
  sessionValues,
} from './session-queries.ts'
import type { SessionStore } from './session-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { AdminStore } from './store.ts'
import { StoreUnavailable } from './unavailable.ts'

/** Milliseconds that a creation waits, without a connection, while a revocation in the tenant goes on. */
const WAITS_FOR_REVOCATION = 2000
/** Milliseconds between its attempts. */
const RETRIED_AFTER = 50

/** Milliseconds that used tokens are kept beyond sessions: an event's token counts for a week. */
const USED_TOKENS = 7 * 24 * 3_600_000

export function sessionWriter(database: Database) {
  const { dialect, reads, unnumbered, write } = database
  const create = creation(dialect)
  // Without locked rows, so that concurrent calls share the work.
  const prune = `WITH old AS MATERIALIZED (SELECT tenant, id FROM sessions WHERE expires_at < :before
      ORDER BY expires_at LIMIT :limit ${dialect.skipLocked})
    DELETE FROM sessions WHERE (tenant, id) IN (SELECT tenant, id FROM old) RETURNING 1 AS gone`
  return {
    ...handleRotation(database),
    ...sessionEnds(database),

    sessionById: async (tenant, id) =>
      sessionOrNull(await reads.get(sessionQueries.find, { tenant, id: storableOrEmpty(id) })),

    async create(session) {
      const values = sessionValues(session)
      const until = performance.now() + WAITS_FOR_REVOCATION
      while ((await unnumbered.get(create, values)) === undefined) {
        const { tenant, id, cookie_hash, family_hash, handle_hash } = values
        const taken = await reads.get(sessionQueries.taken, {
          tenant,
          id,
          cookie_hash,
          family_hash,
          handle_hash,
        })
        // Ids are random, so this indicates a bug.
        if (taken !== undefined) throw new Error('another session has this id')
        if (performance.now() > until) throw new StoreUnavailable('a revocation in the tenant goes on')
        await setTimeout(RETRIED_AFTER)
      }
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
        const session = sessionOrNull(await transaction.get(lockedSession(dialect), { tenant, id }))
        if (!mayRenew(session, handle, renewal.voidUntil)) return null
        const values = { ...renewalValues(renewal), tenant, id }
        return transaction.commit([sessionQueries.renew], [sessionChange(tenant, id)], values)
      })
    },

    async prune(before, limit) {
      await unnumbered.all(logoutQueries.prune, { before: before - USED_TOKENS })
      return (await unnumbered.all(prune, { before, limit })).length
    },
  } satisfies Partial<SessionStore & AdminStore>
}
