/** Storage of route tables. A push proposes a candidate, which instances answer, and then activates it. */

import type { AsOf } from '../model/readings.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { ActiveTables, TableFiles, TablesVersion } from '../model/tables-version.ts'
import type { Writer, Written } from './writer.ts'

/** The number of newest versions whose files are kept. Of older ones, the rest is kept for good. */
export const KEPT_FILES = 100

/** Milliseconds after which a candidate is removed by the next proposal or activation. */
export const CANDIDATE_AGE = 60_000

/** The most candidates that are looked at: one for each push in progress. */
export const MAX_CANDIDATES = 8

export interface TablesProposal {
  /** At most 8 MiB. The names and texts are not checked here. */
  readonly files: TableFiles
  /** The `tablesDigest` of the files. */
  readonly digest: string
  /** Left out: at once. */
  readonly effect?: TablesEffect
}

/**
 * `at-start`: instances decide by the files that start with tables in the store. No instance of the list may
 * have them there, since none prepares these files.
 */
export type TablesEffect = 'at-once' | 'at-start'

export interface TablesCandidate {
  readonly id: string
  /** The version that is active now. */
  readonly base: number
}

/** The answer to a proposal of the files of the active version. */
export interface SameTables {
  readonly id: null
  /** That version. */
  readonly base: number
}

export interface TablesPage {
  readonly limit: number
  /** The number of a version: the page contains older ones. */
  readonly after: string | null
}

export interface TablesStore {
  /** The active version, which is 0 before the first push. */
  activeTables(tenant: string): Promise<AsOf<ActiveTables>>

  /**
   * The files are null if the version is older than the newest {@link KEPT_FILES}.
   *
   * @returns null: there is no such version; there is none of number 0
   */
  tablesVersion(
    tenant: string,
    version: number,
  ): Promise<(TablesVersion & { readonly files: TableFiles | null }) | null>

  /** Newest first, without files. */
  listTables(tenant: string, page: TablesPage): Promise<{ data: TablesVersion[]; hasMore: boolean }>

  /**
   * Stores a candidate, which has no effect on decisions. `ifMatch` of the writer is compared with the tag of
   * the active version. Refused while an instance of the list does not understand tables in the store, or has
   * its tables elsewhere than in the store for this tenant. Candidates older than {@link CANDIDATE_AGE} are
   * removed with their answers.
   *
   * @returns the candidate; {@link SameTables}: nothing was written
   */
  proposeTables(
    writer: Writer,
    proposal: TablesProposal,
  ): Promise<Written<TablesCandidate | SameTables> | AdminRefusal>

  /** The ids of the newest candidates, the oldest first. */
  tablesCandidates(tenant: string): Promise<readonly string[]>

  /** The files of a candidate; null: it was activated, withdrawn or removed. */
  tablesCandidate(tenant: string, id: string): Promise<TableFiles | null>

  /**
   * Stores what an instance says of a candidate, in place of what it said before. Does nothing if the
   * candidate is gone.
   *
   * @param instance the id of the instance
   * @param answer JSON
   */
  answerCandidate(tenant: string, id: string, instance: string, answer: string): Promise<void>

  /** The id of each instance that has answered → its answer. Empty if the candidate is gone. */
  candidateAnswers(tenant: string, id: string): Promise<ReadonlyMap<string, string>>

  /**
   * Makes a candidate the next version, which is active from the commit on, and removes the candidate.
   * Refused if another version was activated since it was proposed, if it is gone, and for an instance as by
   * {@link proposeTables}. Does not read the answers.
   *
   * @param compiled what the compiled tables of the candidate are
   * @param effect the effect of the proposal
   */
  activateTables(
    writer: Writer,
    id: string,
    compiled: Pick<TablesVersion, 'hash' | 'entries'>,
    effect?: TablesEffect,
  ): Promise<Written<TablesVersion> | AdminRefusal>

  /** Removes a candidate and its answers, if it is still there. */
  withdrawTables(tenant: string, id: string): Promise<void>
}
