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
export type UserBlock = Pick<Block, 'user' | 'until'>

/** @param now ms since the epoch */
export function isInForce({ until }: Pick<Block, 'until'>, now: number): boolean {
  return until === null || now < until
}

/**
 * The blocks of a tenant, with the time of the store at the reading. Blocks that have ended by that time are
 * among them: a process may keep the reading for long, and the clock of the store may have been wrong for a
 * moment.
 */
export interface BlocksReading {
  readonly now: number
  /** The blocks; null: there are too many to keep as a whole, and each user needs a reading. */
  readonly blocks: readonly UserBlock[] | null
}

/** The block of one user, as in {@link BlocksReading}. */
export interface UserBlockReading {
  readonly now: number
  /** The block of the user; null: there is none. */
  readonly block: UserBlock | null
}
