/**
 * Bytes of a Seat's record, by which `limits.seat_bytes` counts: its name, and its spaces and permissions as
 * JSON, in UTF-8.
 */
export function seatSize({ name, spaces, permissions }: SeatInput): number {
  return Buffer.byteLength(name) + listSize(spaces) + listSize(permissions)
}

export function listSize(texts: readonly string[]): number {
  return Buffer.byteLength(JSON.stringify(texts))
}

/** The part of a Seat that grants. */
export interface SeatLists {
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

export interface SeatInput extends SeatLists {
  readonly name: string
}

/** A Seat as a file has it. */
export interface WantedSeat extends SeatInput {
  /** The former name of a Seat that is renamed; null: it had no other. */
  readonly was: string | null
}

/** The Seats that a tenant is to have. */
export interface WantedSeats {
  /** The Seats, each with a name of its own. */
  readonly seats: readonly WantedSeat[]
  /** Whether Seats that are not among them are deleted, as far as the caller may see them. */
  readonly prune: boolean
}

/** A Seat as stored. Times in ms since the epoch. */
export interface StoredSeat extends SeatInput {
  /** A ULID: sorts in order of creation. */
  readonly id: string
  readonly tenant: string
  /** Counts the writes, from 1. */
  readonly version: number
  readonly createdBy: string
  readonly createdAt: number
  /** Null until the first update. */
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

export interface ListedSeat extends StoredSeat {
  /** Distinct users whose latest sign-in carried the Seat, or active SCIM users in the group of its name. */
  readonly memberCount: number
}
