/**
 * Where sign-ins live: browser sessions (opened by a cookie) and refresh families (kept alive by a rotating handle).
 * Implemented by each store driver, inside the store's transactions; `test/seats-admin/store/session-conformance.ts`
 * says what each must do.
 *
 * Every method rejects with StoreUnavailable when the store can't be asked. A write that rejects may have been
 * committed all the same; the callers are written so that either is safe. "Atomically" means: one transaction, in which
 * no other write to the row can come between the reading and the writing.
 */

import type { SessionRecord } from '../model/session.ts'

export interface StoredSession extends SessionRecord {
  readonly name: string | null
  /** SHA-256 of the part that all handles of the family share; null for a browser session. */
  readonly familyHash: Uint8Array | null
  /** SHA-256 of the part that rotates: of the one handle that is good now. */
  readonly handleHash: Uint8Array | null
  /** The provider's tokens, sealed by the caller: ASCII text, about as long as they are. Opaque to the store. */
  readonly sealed: string
}

/** What mapping the Seats afresh changes. */
export interface Renewal {
  readonly email: string | null
  readonly name: string | null
  readonly hashPerm: readonly string[]
  readonly issuedAt: number
  readonly renewAt: number
  readonly sealed: string
}

/** A refresh handle as presented: hashes of its two secrets. */
export interface HandleProof {
  readonly family: Uint8Array
  readonly handle: Uint8Array
}

/**
 * - `rotated`: the handle was good, and from now on `next` is
 * - `replayed`: of this family, but not the handle that is good now. The family was ended in the same transaction
 * - `expired`: of a family whose time is over; nothing was changed
 * - `ended`: of a family that was ended before; nothing was changed
 * - `unknown`: no such family, or the family's own secret is wrong. Nothing was changed: who can't show that they ever
 *   held a handle of it can't end it
 */
export type Rotation =
  | { readonly outcome: 'rotated'; readonly session: StoredSession }
  | { readonly outcome: 'replayed'; readonly committed: SessionChanged }
  | { readonly outcome: 'expired' | 'ended' | 'unknown' }

/** A row of the change feed of kind `session`, its key the session's id; in the shape of every committed write. */
export interface SessionChanged {
  readonly seq: number
  readonly mark: number
  readonly changes: readonly { readonly tenant: string; readonly kind: 'session'; readonly key: string }[]
}

/** A value, and the newest change that the same snapshot of the store had seen. */
export interface SessionReading {
  readonly seq: number
  readonly mark: number
  readonly value: SessionRecord | null
}

export interface SessionStore {
  /** Durable before it resolves. No row in the feed: nobody can have asked for an id that was just drawn. */
  create(session: StoredSession): Promise<void>

  /** For the memory of the request path: a point read, with its place in the history. Ended sessions are found too. */
  readSession(tenant: string, id: string): Promise<SessionReading>

  /** The whole of it, the provider's tokens sealed. Ended sessions are found too. */
  sessionById(tenant: string, id: string): Promise<StoredSession | null>

  /**
   * Uses a refresh handle up. Atomically: the row of (tenant, id) whose family hash is `proof.family` is looked at in
   * this order — none: `unknown`; `endedAt` set: `ended`; `expiresAt <= now`: `expired`; its handle hash is not
   * `proof.handle`: `endedAt` becomes `now` with a row in the feed, `replayed`; else its handle hash becomes `next`,
   * `rotated` with the row as it now is. Of two concurrent uses of one handle exactly one is `rotated`; the other then
   * finds another handle in the row, which is a replay, and ends the family.
   */
  rotate(tenant: string, id: string, proof: HandleProof, next: Uint8Array, now: number): Promise<Rotation>

  /**
   * Takes a rotation back, since the provider could not be asked. Atomically: only where the session is not ended and
   * its handle hash is still `from`, the handle hash becomes `to`, and `sealed` is replaced unless null. With null for
   * both, a browser session, which has no handle: only `sealed`, and any claim is ended. No row in the feed.
   *
   * @returns whether it was so
   */
  giveBack(
    tenant: string,
    id: string,
    from: Uint8Array | null,
    to: Uint8Array | null,
    sealed: string | null,
  ): Promise<boolean>

  /**
   * The right to ask the provider about a browser session, for one instance at a time: two at once would be a replay
   * of the provider's refresh token. Atomically: only where the session is not ended, `expiresAt > now` and no claim
   * runs beyond `now`, the claim becomes `until`.
   *
   * @returns the row; null where it was not so
   */
  claimRenewal(tenant: string, id: string, now: number, until: number): Promise<StoredSession | null>

  /**
   * Writes what the provider said, and ends any claim. Atomically: only where the session is not ended and its handle
   * hash is `handle` (null: has none). With a row in the feed.
   *
   * @returns null where it was not so
   */
  renew(
    tenant: string,
    id: string,
    handle: Uint8Array | null,
    renewal: Renewal,
  ): Promise<SessionChanged | null>

  /**
   * Ends it, with a row in the feed. One that was ended keeps its time, and is announced again. `sealed` is emptied:
   * nobody needs the provider's tokens any more.
   *
   * @returns null where there is no such session
   */
  end(tenant: string, id: string, now: number): Promise<SessionChanged | null>

  /**
   * Deletes sessions whose `expiresAt` lies before `before`, at most `limit` of them, over all tenants. Ended ones stay
   * until then, so that a cookie or handle of theirs is answered as ended. No row in the feed: they no longer counted.
   *
   * @returns how many
   */
  prune(before: number, limit: number): Promise<number>
}
