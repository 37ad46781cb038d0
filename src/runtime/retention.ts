/**
 * What a gateway deletes from the store because it is old: sign-in sessions that have ended, and entries of
 * the audit. The newest entries are named in the log.
 */

import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditStore, Store } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

/** The most sessions of one round, and the ms that ended ones are kept. */
const SESSIONS = 1000
const SESSION_RETENTION = 24 * 3_600_000

/**
 * The most entries of one transaction, so that no write waits long, and milliseconds between transactions.
 */
const ENTRIES = 100
const PAUSE = 100

const NONE = { seq: 0, hash: null }

export class AuditKeeping {
  readonly #audit: AuditStore
  readonly #log: Log
  readonly #closed = new AbortController()
  #deleting = false

  constructor(audit: AuditStore, log: Log) {
    this.#audit = audit
    this.#log = log
  }

  /** Logs the newest entry of each tenant, which shows whether entries are cut off later. Never rejects. */
  async logHeads(tenants: Iterable<string>): Promise<void> {
    try {
      for (const tenant of tenants) {
        const { seq, hash } = (await this.#audit.head(tenant)) ?? NONE
        this.#log.logger.info({ tenant, seq, hash }, 'seatgate_audit_head')
      }
    } catch (cause) {
      if (this.#closed.signal.aborted) return
      const reason = cause instanceof Error ? cause.message : String(cause)
      this.#log.logger.warn({ reason }, 'the heads of the audit could not be read')
    }
  }

  /**
   * Never rejects: a failure is retried in the next round.
   *
   * @param before ms since the epoch
   */
  async deleteOlder(before: number): Promise<void> {
    if (this.#deleting) return
    this.#deleting = true
    let count = 0
    try {
      for (let deleted = ENTRIES; deleted > 0; count += deleted) {
        deleted = await this.#audit.prune(before, ENTRIES)
        await sleep(PAUSE, undefined, { signal: this.#closed.signal, ref: false })
      }
    } catch {
      // The store is away, or closed.
    }
    this.#deleting = false
    if (count > 0)
      this.#log.logger.info({ count }, 'deleted audit entries that are older than audit.retention')
  }

  close(): void {
    this.#closed.abort()
  }
}

/**
 * One round. Never rejects: a failure is retried in the next one.
 *
 * What is old is so by the clock of the store too. One instance whose clock is ahead would otherwise delete
 * for good what all others keep. An SQLite store has the clock of its machine, so that this makes no
 * difference there.
 */
export async function deleteOld(
  { clock, sessions }: Pick<Store, 'clock' | 'sessions'>,
  audit: Pick<AuditKeeping, 'deleteOlder'>,
  auditRetention: number,
): Promise<void> {
  const stored = await clock().catch(() => null)
  if (stored === null) return
  const now = Math.min(stored, Date.now())
  await sessions.prune(now - SESSION_RETENTION, SESSIONS).catch(() => {})
  await audit.deleteOlder(now - auditRetention)
}
