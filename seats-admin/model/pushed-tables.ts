/** What a push of route tables is answered by the gateway. */

import type { ReachedInstance } from './revocation.ts'

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

/** Nothing has changed. */
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
