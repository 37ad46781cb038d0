/** What a gateway does about the audit beside its entries: names their ends in the log, and deletes old ones. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { AuditStore } from '../../seats-admin/index.ts'
import type { Log } from '../telemetry/logger.ts'

/** Entries of one transaction, so that no write waits long, and milliseconds between transactions. */
const BATCH = 100
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

  /** The newest entry of each tenant: entries that are cut off later are missed. Never rejects. */
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

  /** Never rejects: a failure is retried in the next round. @param before ms since the epoch */
  async deleteOlder(before: number): Promise<void> {
    if (this.#deleting) return
    this.#deleting = true
    let count = 0
    try {
      for (let deleted = BATCH; deleted > 0; count += deleted) {
        deleted = await this.#audit.prune(before, BATCH)
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
