/** Messages between instances. Any of them may be lost, late, doubled or out of order: the lease makes up for it. */

import type { NumberedChange } from '../../seats-admin/model/change.ts'

/** What a writer tells all others. */
export interface Announcement {
  readonly from: string
  /** Of the sender's announcements. */
  readonly number: number
  /** Up to where the feed has it. */
  readonly seq: number
  /** Null: too many for a message, read the feed. */
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
  /** As far as is known, messages come and go. */
  readonly up: boolean
  /** Begins to receive what is for `id`. */
  open(id: string, receiver: BusReceiver): void
  /** Neither throws: what does not get through is made up for. */
  announce(announcement: Announcement): void
  acknowledge(acknowledgement: Acknowledgement): void
  close(): Promise<void>
}
