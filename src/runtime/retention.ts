/** What a gateway deletes from the store because it is old: sign-in sessions that have ended, and entries of the audit. */

import type { Store } from '../../seats-admin/index.ts'
import type { AuditKeeping } from './audit-keeping.ts'

/** Sessions of one round, and ms that ended ones are kept. */
const BATCH = 1000
const SESSION_RETENTION = 24 * 3_600_000

/**
 * One round. Never rejects: a failure is retried in the next one.
 *
 * What is old is so by the clock of the store too. One instance whose clock is ahead would otherwise delete for good what all
 * others keep. An SQLite store has the clock of its machine, so that this makes no difference there.
 */
export async function deleteOld(
  { clock, sessions }: Pick<Store, 'clock' | 'sessions'>,
  audit: Pick<AuditKeeping, 'deleteOlder'>,
  auditRetention: number,
): Promise<void> {
  const stored = await clock().catch(() => null)
  if (stored === null) return
  const now = Math.min(stored, Date.now())
  await sessions.prune(now - SESSION_RETENTION, BATCH).catch(() => {})
  await audit.deleteOlder(now - auditRetention)
}
