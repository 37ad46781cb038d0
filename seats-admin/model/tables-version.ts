/** The route tables of all tenants, where they are in the store: versions of a set of files. */

import { hash } from 'node:crypto'
import type { AuditActor } from './audit.ts'
import { canonicalJson } from './canonical-json.ts'

/** The name of each file → its text. */
export type TableFiles = Readonly<Record<string, string>>

/** The most characters of the name of a file. */
export const MAX_FILE_NAME = 200
const FILE_NAME = /^[A-Za-z0-9][A-Za-z0-9._-]*\.ya?ml$/

/** Whether a file of a set may have the name, which is no path. */
export function isTableFileName(name: string): boolean {
  return name.length <= MAX_FILE_NAME && FILE_NAME.test(name)
}

/** The tables that decide. Version 0, without files, stands for none before the first push. */
export interface ActiveTables {
  readonly version: number
  /** The {@link tablesDigest} of the files. */
  readonly digest: string
  readonly files: TableFiles
}

/** A version that is, or was, active. */
export interface TablesVersion {
  /** Counts the versions of the tenant from 1, without gaps. */
  readonly version: number
  /** The {@link tablesDigest} of its files. */
  readonly digest: string
  /** The content hash of the compiled tables, as instances show it. */
  readonly hash: string
  /** The number of entries of its tables. */
  readonly entries: number
  /** ms since the epoch, by the clock of the writer. */
  readonly createdAt: number
  readonly createdBy: AuditActor
}

/** Names tables of the store: after a restore, a version may have other files than before. */
export type TableSet = Pick<ActiveTables, 'version' | 'digest'>

export function isSameTableSet(one: TableSet, other: TableSet): boolean {
  return one.version === other.version && one.digest === other.digest
}

/** What the change of kind `tables` says: which version is active, and which candidate it was. */
export interface TablesNotice extends TableSet {
  readonly candidate: string
}

/**
 * Tells whether two sets of files are the same, also in a store that was restored.
 *
 * @returns SHA-256 of the canonical JSON, hexadecimal: the same for the same names and texts
 * @throws RangeError for a text with a lone surrogate
 */
export function tablesDigest(files: TableFiles): string {
  return hash('sha256', canonicalJson(files), 'hex')
}

/** Before the first push. */
export const NO_TABLES: ActiveTables = { version: 0, digest: tablesDigest({}), files: {} }

/** The notice of a change of kind `tables`; null for any other text, as a newer version may write it. */
export function tablesNoticeOf(key: string): TablesNotice | null {
  try {
    const { version, digest, candidate }: Partial<TablesNotice> = JSON.parse(key)
    const isWhole = typeof digest === 'string' && typeof candidate === 'string'
    return isWhole && Number.isSafeInteger(version) && version !== undefined
      ? { version, digest, candidate }
      : null
  } catch {
    return null
  }
}

/** Where an instance has its route tables, as it tells with each sign of life: `files`, or this text. */
export function storedTablesOf(tenant: string): string {
  return `store:${tenant}`
}

export const TABLES_IN_FILES = 'files'

/** The place of route tables in that text, for people; null: an older version, or not known yet. */
export function tablesPlaceOf({ tables }: { readonly tables: string | null }): 'files' | 'store' | null {
  if (tables === null) return null
  return tables === TABLES_IN_FILES ? 'files' : 'store'
}
