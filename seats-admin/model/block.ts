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

/** @param now ms since the epoch */
export function isInForce({ until }: Pick<Block, 'until'>, now: number): boolean {
  return until === null || now < until
}
