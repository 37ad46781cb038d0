/**
 * Storage of browser sessions (with a cookie) and refresh families (with a rotating handle).
 * `session-writer.ts` implements it; `test/seats-admin/store/session-conformance.ts` specifies the behaviour.
 *
 * Every method rejects with StoreUnavailable when the store is unavailable. A write that rejects may have
 * been committed; callers must handle both. "Atomically" means one transaction, without other writes to the
 * row between read and write.
 */

import type { Committed } from '../model/change.ts'
import type { AsOf } from '../model/readings.ts'
import type { ListedSession, SessionRecord } from '../model/session-record.ts'
import type { Writer, Written } from './writer.ts'

export interface StoredSession extends SessionRecord {
  readonly name: string | null
  /** SHA-256 of the secret that all handles of the family share; null for a browser session. */
  readonly familyHash: Uint8Array | null
  /** SHA-256 of the rotating secret of the valid handle. */
  readonly handleHash: Uint8Array | null
  /** The provider's tokens, encrypted by the caller, as ASCII text. Opaque to the store. */
  readonly sealed: string
  /** SHA-256 that identifies the provider's own session; null when the provider names none. */
  readonly providerSession: Uint8Array | null
  /** The beginning; null for a session from before this was recorded. */
  readonly createdAt: number | null
}

/** The sessions that a logout at the provider ends: those of one session there, or all of a user. */
export type LogoutSubject = { readonly providerSession: Uint8Array } | { readonly user: string }

/** Times in ms since the epoch. */
export interface LogoutSince {
  readonly digest: Uint8Array
  readonly since: number
}

/**
 * The fields that a renewal of the Seats changes, and `voidUntil` of the session when the provider was asked.
 */
export type Renewal = Pick<
  StoredSession,
  'email' | 'name' | 'hashPerm' | 'issuedAt' | 'renewAt' | 'sealed' | 'voidUntil'
>

/** A refresh handle as presented: hashes of its two secrets. */
export interface HandleProof {
  readonly family: Uint8Array
  readonly handle: Uint8Array
}

/**
 * - `rotated`: the handle was valid and is replaced by `next`
 * - `replayed`: a former handle of the family. The family was ended in the same transaction
 * - `expired`: the family has expired; nothing changed
 * - `ended`: the family was ended before; nothing changed
 * - `revoked`: a revocation has ended the family before; nothing changed
 * - `unknown`: no such family, or its secret is wrong; nothing changed, because only a holder of a handle may
 *   end it
 */
export type Rotation =
  | { readonly outcome: 'rotated'; readonly session: StoredSession }
  | { readonly outcome: 'replayed'; readonly committed: Committed; readonly user: string }
  | { readonly outcome: 'expired' | 'ended' | 'revoked' | 'unknown' }

export interface SessionPage {
  readonly limit: number
  /** The page contains ids greater than this one. */
  readonly after: string | null
  /** The user of the sessions; null: all users. */
  readonly user: string | null
  /** Only sessions that have not expired by then, ms since the epoch. */
  readonly now: number
}

export interface SessionStore {
  /** Durable before it resolves. No row in the feed, because the random id is new. */
  create(session: StoredSession): Promise<void>

  /** A point read for the request path, with its store position. Also returns ended sessions. */
  readSession(tenant: string, id: string): Promise<AsOf<SessionRecord | null>>

  /** The complete row. Also returns ended sessions. */
  sessionById(tenant: string, id: string): Promise<StoredSession | null>

  /**
   * Consumes a refresh handle. Atomically: the row of (tenant, id) whose family hash is `proof.family` is
   * looked at in this order — none: `unknown`; `endedAt` set: `revoked` or `ended`; `expiresAt <= now`:
   * `expired`; its handle hash is not `proof.handle`: `endedAt` becomes `now` with a row in the feed and an
   * entry in the audit, `replayed`; else its handle hash becomes `next`, `rotated` with the row as it now is.
   * Of two concurrent uses of one handle exactly one is `rotated`; the other then finds another handle in the
   * row, which is a replay, and ends the family.
   *
   * @param author for the audit of a replay; its `now` is the time
   */
  rotate(author: Writer, id: string, proof: HandleProof, next: Uint8Array): Promise<Rotation>

  /**
   * Reverts a rotation after the provider was unavailable. Atomically: if the session is not ended and its
   * handle hash is still `from`, the handle hash becomes `to`, any claim ends, and `sealed` is replaced
   * unless null. For a browser session, which has no handle, both hashes are null. No row in the feed.
   *
   * @returns whether the condition held
   */
  giveBack(
    tenant: string,
    id: string,
    from: Uint8Array | null,
    to: Uint8Array | null,
    sealed: string | null,
  ): Promise<boolean>

  /**
   * Claims the renewal of a browser session for one instance: concurrent renewals would replay the provider's
   * refresh token. Atomically: if the session is not ended, `expiresAt > now` and no claim lasts beyond
   * `now`, the claim becomes `until`.
   *
   * @returns the row; null when the condition did not hold
   */
  claimRenewal(tenant: string, id: string, now: number, until: number): Promise<StoredSession | null>

  /**
   * Writes the renewal and ends any claim. Atomically: if the session is not ended, its handle hash is
   * `handle` (null for none), and no tokens of it became void since the provider was asked. With a row in the
   * feed.
   *
   * @returns null when the condition did not hold
   */
  renew(tenant: string, id: string, handle: Uint8Array | null, renewal: Renewal): Promise<Committed | null>

  /**
   * Ends a session for its own user, with a row in the feed; the audit has no entry of that. An ended session
   * keeps its time and is announced again. `sealed` becomes empty: the provider's tokens are not needed any
   * more.
   *
   * @returns null for an unknown session
   */
  end(tenant: string, id: string, now: number): Promise<Committed | null>

  /**
   * As {@link end}, for the provider: with an entry in the audit, unless the session had ended before.
   *
   * @returns null for an unknown session
   */
  endByProvider(author: Writer, id: string): Promise<Committed | null>

  /**
   * Ends at most `limit` sessions of the subject that are not ended, expired ones included, because a token
   * may outlive its session by the leeway. As by {@link endByProvider}, with a row in the feed and an entry
   * in the audit for each.
   *
   * @returns the sessions, in order of their ids. Without sessions, it has no changes and the number of the
   *   newest commit: the ends of earlier ones may not be known everywhere yet.
   */
  endSome(author: Writer, subject: LogoutSubject, limit: number): Promise<Written<ListedSession[]>>

  /**
   * At most `limit` sessions of the subject that are not ended, in order of their ids, expired ones included.
   */
  openSessions(tenant: string, subject: LogoutSubject, limit: number): Promise<ListedSession[]>

  /**
   * Records a logout at the provider by a digest of its subject, for {@link loggedOutSince}. The latest time
   * counts. It is durable before `endSome` is called: a session that `endSome` does not see was then created
   * by a sign-in that sees the record.
   */
  recordLogout(tenant: string, digest: Uint8Array, at: number): Promise<void>

  /**
   * Whether a record of the digest, of {@link recordLogout} or {@link recordToken}, is not older than
   * `since`.
   *
   * @param or another digest, for which the same is asked
   */
  loggedOutSince(tenant: string, logout: LogoutSince, or?: LogoutSince | null): Promise<boolean>

  /**
   * Records the digest of a used token, for at least a week. Of all calls for one digest exactly one resolves
   * with true; a call whose first response was lost may resolve with false.
   */
  recordToken(tenant: string, digest: Uint8Array, at: number): Promise<boolean>

  /**
   * Deletes at most `limit` sessions with `expiresAt` before `before`, of all tenants, and records of logouts
   * and used tokens from a week before then. Ended sessions stay until then, so that their cookies and
   * handles are reported as ended. No row in the feed, because expired sessions are not valid.
   *
   * @returns the number of deleted sessions
   */
  prune(before: number, limit: number): Promise<number>
}
