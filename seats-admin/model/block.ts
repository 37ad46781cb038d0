/** Blocks of users: a blocked user is refused with every token and session. Times in ms since the epoch. */

export interface Block {
  /** A ULID. */
  readonly id: string
  readonly tenant: string
  /** The `sub` of the user. */
  readonly user: string
  /** The end, exclusive; null: until it is deleted. */
  readonly until: number | null
  readonly reason: string | null
  readonly createdBy: string
  readonly createdAt: number
}

/** A block as decisions need it. */
export type ActiveBlock = Pick<Block, 'user' | 'until'>

/** The active blocks of a tenant, with the time of the store at the reading. */
export interface BlocksReading {
  readonly now: number
  /** Null: too many to be kept as a whole. Each user is then asked about alone. */
  readonly blocks: readonly ActiveBlock[] | null
}

/** Whether one user is blocked, with the time of the store at the reading. */
export interface UserBlockReading {
  readonly now: number
  /** Null: not blocked. */
  readonly block: ActiveBlock | null
}
