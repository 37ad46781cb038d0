/** Changes of the change feed, from which caches know what to drop. */

/**
 * The kinds of changes that this version understands, which each instance registers.
 *
 * - `seat`: the Seat of this id
 * - `seat-name`: the Seat of this name (created, changed, renamed from or to, deleted)
 * - `api-key`: the API key of this id
 * - `session`: the sign-in session of this id
 * - `block`: the block of the user with this `sub`, as a JSON string
 * - `revocation`: what its key says, the JSON of a `RevocationNotice`
 * - `membership`: the groups of a user by SCIM, or of any user; the key is a `MembershipKey` as JSON
 * - `grant`: the grants of the user with this `sub`, as a JSON string, or those of any user: `null`
 * - `tables`: another version of the route tables is active; the key is the JSON of a `TablesNotice`
 * - `tables-candidate`: the candidate of this id is to be compiled. No decision depends on it
 */
export const CHANGE_KINDS = [
  'seat',
  'seat-name',
  'api-key',
  'session',
  'block',
  'revocation',
  'membership',
  'grant',
  'tables',
  'tables-candidate',
] as const
export type ChangeKind = (typeof CHANGE_KINDS)[number]

export interface Change {
  readonly tenant: string
  readonly kind: ChangeKind
  /**
   * The id or name of a Seat, the id of an API key, of a session or of candidate tables, or JSON: the `sub` of
   * a user, the notice of a revocation or of tables, or the key of a membership.
   */
  readonly key: string
}

/**
 * A position in the history of a store. `seq` numbers the changes in commit order, without gaps. `mark` is
 * random for each commit, so that another history (a restored backup, a replica that lost writes, another
 * database) has other marks at the same numbers. Before the first change both are 0.
 */
export interface Position {
  readonly seq: number
  readonly mark: number
}

export interface NumberedChange extends Change, Position {}

/** A change as one instance has seen it. For people: it does not tell what changed. */
export interface ObservedChange {
  readonly seq: number
  readonly kind: ChangeKind
  /** ms since the epoch: when the instance committed it, or learned of it, by its clock. */
  readonly at: number
  /**
   * ms from the commit until every instance decided by it; null: another process wrote it, or it is not yet
   * so far.
   */
  readonly effective: number | null
}

/** Changes of one committed write, and the position of the last of them. All have the same mark. */
export interface Committed extends Position {
  readonly changes: readonly Change[]
}

/** What a write says of the administrators that it leaves. */
export interface KeyAdministration {
  /**
   * An API key in force administers the tenant by a Seat that the write does not change. Found in the
   * transaction of the write, so that most writes take no further question. False: nothing is known, and
   * `isAdministered` has the answer.
   */
  readonly keyAdministers: boolean
}

/** Copies only these members: a result may also contain the text of an API key. */
export function committedOf({ seq, mark, changes }: Committed): Committed {
  return { seq, mark, changes }
}

/** A reading of the change feed: one snapshot. */
export interface FeedReading {
  readonly head: Position
  /**
   * In order, up to the head. Null when they are unknown: no longer all retained, more than 5,000, or the
   * given position is not of this history (its mark differs, or its number is ahead).
   */
  readonly changes: readonly NumberedChange[] | null
}

export interface ChangeReader {
  /** All changes after `position`; from null, all retained ones, at most 10,000. */
  changesSince(position: Position | null): Promise<FeedReading>
}
