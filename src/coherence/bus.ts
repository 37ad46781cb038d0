/**
 * Messages between instances. Any of them may be lost, late, duplicated or reordered: the lease covers that.
 */

import type { NumberedChange } from '../../seats-admin/model/change.ts'
import type { OpenCounts } from '../../seats-admin/model/revocation.ts'

/** A writer's message to all other instances. */
export interface Announcement {
  readonly from: string
  /** Sequence number of the sender's announcements. */
  readonly number: number
  /** The last change of the write, as numbered in the feed. */
  readonly seq: number
  /**
   * The changes of the write. Null if there are none, or too many for one message: receivers read the feed up
   * to `seq`.
   */
  readonly changes: readonly NumberedChange[] | null
}

export interface Acknowledgement {
  /** The instance that announced the change. */
  readonly to: string
  readonly from: string
  readonly number: number
  /**
   * What the sender has cut for the announced revocation; null: it does not know. Left out: it has not cut
   * yet, or the write is no revocation. A second message follows then; an older version takes that one for a
   * repeated acknowledgement, which it is.
   */
  readonly cut?: OpenCounts | null
}

export interface BusReceiver {
  announced(announcement: Announcement): void
  acknowledged(acknowledgement: Acknowledgement): void
}

export interface Bus {
  /** Whether messages are delivered, as far as this instance can tell. */
  readonly up: boolean
  /** Starts receiving messages for `id`. */
  open(id: string, receiver: BusReceiver): void
  /** Never throws: a lost message only delays the writer. */
  announce(announcement: Announcement): void
  /** Never throws, as {@link announce}. */
  acknowledge(acknowledgement: Acknowledgement): void
  close(): Promise<void>
}
