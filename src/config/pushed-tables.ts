/** Pushes of route tables to the store: what an instance does for the endpoints. */

import type { AdminRefusal } from '../../seats-admin/model/refusal.ts'
import type { ReachedInstance } from '../../seats-admin/model/revocation.ts'
import type { TableFiles } from '../../seats-admin/model/stored-tables.ts'
import type { Writer } from '../../seats-admin/index.ts'
import type { Config } from './config.ts'

/** A fault of a file. `line` and `column` begin at 1; of a fault without a place, they are 0. */
export interface TableFault {
  readonly file: string
  readonly line: number
  readonly column: number
  readonly message: string
}

/** The faults of files at one instance. */
export interface InstanceFaults {
  /** The id of the instance. */
  readonly instance: string
  readonly faults: readonly TableFault[]
}

export interface RefusedTables {
  readonly faults: readonly InstanceFaults[]
}

export interface PushedTables {
  readonly version: number
  readonly hash: string
  /** The digest of the files. */
  readonly digest: string
  /** Whether the files were active before. */
  readonly isSame: boolean
  /** The instance that answers first. */
  readonly instances: readonly ReachedInstance[]
}

export type PushTables = (
  writer: Writer,
  files: TableFiles,
) => Promise<PushedTables | RefusedTables | AdminRefusal>

/** The tables of the store at this instance. */
export interface TablesService {
  /**
   * Makes files the active version, once each live instance is ready for it. Rejects when the store is
   * unavailable: the files may be active then.
   */
  readonly push: PushTables
  /** The configuration of this instance with these files; it is not activated. */
  readonly build: (files: TableFiles) => Promise<Config | RefusedTables>
}
