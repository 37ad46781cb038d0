/** Messages between instances. Any of them may be lost, late, duplicated or reordered: the lease covers that. */

import type { NumberedChange } from '../../seats-admin/model/change.ts'

/** A writer's message to all other instances. */
export interface Announcement {
  readonly from: string
  /** Sequence number of the sender's announcements. */
  readonly number: number
  /** The last change of the write, as numbered in the feed. */
  readonly seq: number
  /** Null: none, or too many for one message; receivers read the feed up to `seq`. */
  readonly changes: readonly NumberedChange[] | null
}

export interface Acknowledgement {
  /** The instance that announced. */
  readonly to: string
  readonly from: string
  readonly number: number
}

export interface BusReceiver {
  announced(announcement: Announcement): void
  acknowledged(acknowledgement: Acknowledgement): void
}

export interface Bus {
  /** Whether messages are delivered, as far as is known. */
  readonly up: boolean
  /** Starts receiving messages for `id`. */
  open(id: string, receiver: BusReceiver): void
  /** Both never throw: a lost message only delays the writer. */
  announce(announcement: Announcement): void
  acknowledge(acknowledgement: Acknowledgement): void
  close(): Promise<void>
}
