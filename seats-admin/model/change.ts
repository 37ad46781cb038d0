/** What a write changed, in words that a cache can act on. One row of the change feed. */

/**
 * - `seat`: the Seat of this id
 * - `seat-name`: what this Seat name means (made, changed, renamed from or to, deleted)
 * - `api-key`: the API key of this id
 */
export type ChangeKind = 'seat' | 'seat-name' | 'api-key'

export interface Change {
  readonly tenant: string
  readonly kind: ChangeKind
  /** A Seat id, a Seat name or an API key id. */
  readonly key: string
}

/** Changes of one committed write. `seq` grows in commit order and has no gaps that a reader could see. */
export interface Committed {
  readonly seq: number
  readonly changes: readonly Change[]
}
