/** Coherence as the processes of an instance use it. `lease.ts` describes the protocol. */

import type { Committed } from '../../seats-admin/model/change.ts'
import type { ReachedInstance } from '../../seats-admin/model/revocation.ts'
import type { FilesReader } from './current-files.ts'
import type { TablesReader } from './current-tables.ts'
import type { Decider } from './deciders.ts'
import type { Renewer } from './lease.ts'

/** The access of a process to coherence: its own instance, or the primary's over a channel. */
export interface Coherence extends Renewer, FilesReader, TablesReader {
  /** From now on the decider receives all changes. */
  join(decider: Decider): void
  /**
   * Announces a committed write of this process. Resolves when no decider of any instance decides on the
   * state before the write. A write that found nothing to change waits for all writes up to its `seq`. Never
   * rejects, and resolves at the latest after LEASE + MARGIN and a timer's delay.
   */
  announce(committed: Committed): Promise<void>
  /**
   * {@link announce} of a revocation, or of an activation of tables. Resolves with the instances that it has
   * reached, this one first, once each that has acknowledged has said what it has cut, or two seconds after the
   * commit. Never rejects.
   */
  revoke(committed: Committed): Promise<readonly ReachedInstance[]>
}
