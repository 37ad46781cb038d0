/** A Seat as stored. Times in ms since the epoch. */
export interface StoredSeat {
  /** A ULID: sorts in order of creation. */
  readonly id: string
  readonly tenant: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  readonly createdBy: string
  readonly createdAt: number
  /** Null until the first update. */
  readonly updatedBy: string | null
  readonly updatedAt: number | null
}

export interface ListedSeat extends StoredSeat {
  /** Distinct users whose latest sign-in carried the Seat. */
  readonly memberCount: number
}
