/** Reads of the audit, and its retention. Entries are appended by the writes that they record. */

import type { AuditAction, AuditEntry, AuditHead, AuditStart } from '../model/audit.ts'
import type { Scope } from '../model/scope.ts'
import type { Row } from './rows.ts'

export interface AuditPage {
  readonly limit: number
  /** The id of an entry: the page contains older ones. */
  readonly after: string | null
  /** ms since the epoch; the first moment of the page's entries. */
  readonly since: number | null
  /** ms since the epoch; the first moment after the page's entries. */
  readonly until: number | null
  readonly action: AuditAction | null
  /** An actor's id, or the name that the actor had. */
  readonly actor: string | null
  /** A target's id, or the name that the target had. */
  readonly target: string | null
  /** The page contains only entries visible in this scope. */
  readonly scope: Scope
}

/** A part of a tenant's chain, and where the chain begins and ends: one snapshot. */
export interface ChainReading {
  /** The entries in order. */
  readonly rows: readonly Row[]
  readonly start: AuditStart
  /** The newest entry; null: the tenant has none yet. */
  readonly head: AuditHead | null
}

export interface AuditStore {
  /** A page of entries, newest first. */
  list(tenant: string, page: AuditPage): Promise<{ data: AuditEntry[]; hasMore: boolean }>

  /** The newest entry; null: the tenant has none. */
  head(tenant: string): Promise<AuditHead | null>

  /**
   * The oldest entries after the one of this id, as rows, because they may have been tampered with.
   *
   * @param after '' for the oldest
   * @param limit entries; fewer where they are large, but at least one if there is one
   */
  chain(tenant: string, after: string, limit: number): Promise<ChainReading>

  /**
   * Deletes at most `limit` of the oldest entries of one tenant that are from before `before`, in ms since
   * the epoch. The chain then starts at the oldest one kept. Of concurrent calls of several instances, one
   * deletes.
   *
   * @returns the number of deleted entries
   */
  prune(before: number, limit: number): Promise<number>
}
