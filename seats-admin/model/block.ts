/**
 * Blocks of users: a blocked user is refused with every token and session. A user may have one block of each
 * origin, and is blocked until the last of them ends. Times in ms since the epoch.
 */

/**
 * - `admin`: an administrator, or a revocation that one made
 * - `events`: an event of the identity provider
 * - `scim`: the provider's SCIM client
 */
export const BLOCK_ORIGINS = ['admin', 'events', 'scim'] as const

export type BlockOrigin = (typeof BLOCK_ORIGINS)[number]

export interface Block {
  /** A ULID. */
  readonly id: string
  readonly tenant: string
  /** The `sub` of the user. */
  readonly user: string
  readonly origin: BlockOrigin
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
