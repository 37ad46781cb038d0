/** Route tables of the store. */

/** Name of a file → its text. */
export type TableFiles = Readonly<Record<string, string>>

export interface TableSetId {
  /** The number of the version; 0 before the first. */
  readonly version: number
  /** The digest of the texts. */
  readonly digest: string
}

/** One version of the tables in the store: several files, which are one configuration together. */
export interface TableSet extends TableSetId {
  readonly files: TableFiles
}

export const NO_TABLES: TableSet = Object.freeze({ version: 0, digest: '', files: {} })
