/** What a write changed, in words that a cache can act on. One row of the change feed. */

/**
 * - `seat`: the Seat of this id
 * - `seat-name`: what this Seat name means (made, changed, renamed from or to, deleted)
 * - `api-key`: the API key of this id
 * - `session`: the sign-in session of this id
 */
export type ChangeKind = 'seat' | 'seat-name' | 'api-key' | 'session'

export interface Change {
  readonly tenant: string
  readonly kind: ChangeKind
  /** A Seat's id or name, an API key's or a session's id. */
  readonly key: string
}

/**
 * A point in the history of a store. `seq` numbers the changes in commit order, without gaps. `mark` is drawn at random
 * with each commit: another history (a restored backup, a replica that lost writes, another database) has other marks
 * at the same numbers. Before the first change both are 0.
 */
export interface Position {
  readonly seq: number
  readonly mark: number
}

export interface NumberedChange extends Change, Position {}

/** Changes of one committed write, and the position of the last of them. All have the same mark. */
export interface Committed extends Position {
  readonly changes: readonly Change[]
}

/** Only that of a result: the rest of it may hold the text of an API key. */
export function committedOf({ seq, mark, changes }: Committed): Committed {
  return { seq, mark, changes }
}
