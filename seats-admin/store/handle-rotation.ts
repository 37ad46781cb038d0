/** The use of a refresh handle: each is valid once, and a second use of it ends its family. */

import { sessionEvent } from './audit-forms.ts'
import type { Database } from './database.ts'
import { endings } from './endings.ts'
import type { Row } from './rows.ts'
import {
  listedSession,
  lockedSession,
  outcomeOf,
  sessionQueries,
  storedSession,
  type Use,
  useOf,
} from './session-queries.ts'
import type { Rotation, SessionStore } from './session-store.ts'
import { storableOrEmpty } from './storable-text.ts'
import type { Transaction } from './transaction.ts'

const { find, use } = sessionQueries

/**
 * Excludes numbered writes only to end a family: a request without a secret of the family never gets that
 * far.
 */
export function handleRotation(database: Database): Pick<SessionStore, 'rotate'> {
  return {
    async rotate(author, id, proof, next) {
      const values = useOf(author, storableOrEmpty(id), proof, next)
      const rotation = await rotateAtOnce(database, values)
      return rotation ?? database.write(author, (transaction) => rotateInTurn(database, transaction, values))
    },
  }
}

/** @returns null when the decision or the end of the family needs a numbered write */
async function rotateAtOnce({ unnumbered }: Database, values: Use): Promise<Rotation | null> {
  const row = await unnumbered.get(use, values)
  if (row !== undefined) return rotated(row)
  const outcome = outcomeOf(await unnumbered.get(find, values), values)
  return outcome === 'rotated' || outcome === 'replayed' ? null : { outcome }
}

/** For a handle that was not valid in a first check. It may have been restored since. */
async function rotateInTurn({ dialect }: Database, transaction: Transaction, values: Use): Promise<Rotation> {
  const { tenant, id, now } = values
  const before = await transaction.get(lockedSession(dialect), { tenant, id })
  if (before === undefined) return { outcome: 'unknown' }
  const outcome = outcomeOf(before, values)
  if (outcome === 'replayed') {
    const session = listedSession(before)
    transaction.record(sessionEvent(session, null, now))
    const committed = await transaction.commitEffect(endings(dialect).endSessions(tenant, [id], now))
    return { outcome, committed, user: session.user }
  }
  if (outcome !== 'rotated') return { outcome }
  const row = await transaction.get(use, values)
  if (row === undefined) throw new Error('the session changed while its row was locked')
  return rotated(row)
}

function rotated(row: Row): Rotation {
  return { outcome: 'rotated', session: storedSession(row) }
}
