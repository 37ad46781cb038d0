/**
 * Storage of revocations. What decisions read of them, with the blocks of users, is in
 * `restriction-queries.ts`.
 */

import type { BlockOrigin } from '../model/block.ts'
import type { Committed } from '../model/change.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { Revocation, RevocationScope, RevocationSubject } from '../model/revocation.ts'
import type { TokenState } from '../model/used-token.ts'
import type { AdministrativeWrite, Writer, Written } from './writer.ts'

export interface RevocationInput {
  readonly subject: RevocationSubject
  /** `all` and `tokens` for a user only. */
  readonly what: RevocationScope
  /** The origin of the block of `all`; absent: `admin`. */
  readonly origin?: BlockOrigin
  /** The end of the block of `all` in ms since the epoch; null: until it is deleted, or there is no block. */
  readonly until: number | null
  readonly reason: string | null
  /** Whether API keys are included. For a tenant only. */
  readonly apiKeys: boolean
}

/** What the transaction of a revocation records for the identity provider that requests it. */
export interface ProviderRequest {
  /**
   * The digest of the token that requests it, which takes effect once; null: it has begun with an earlier
   * write.
   */
  readonly token: Uint8Array | null
  /**
   * The digest of the user as `SessionStore.recordLogout` takes it, so that no sign-in from before completes;
   * null: the subject is no user.
   */
  readonly logout: Uint8Array | null
  /**
   * When the provider said it, in ms since the epoch, if it is about the account of a user. After a newer
   * {@link AdminStore.liftBlock} or block of an event, `all` is `existing`. Left out: the order does not matter.
   */
  readonly saidAt?: number
}

/** What a revocation would end. */
export interface RevocationCount extends Pick<Revocation, 'ended' | 'keptKey'> {
  /** The ids of the API keys that it would revoke, at most {@link MAX_NAMED} of them. */
  readonly keys: readonly string[]
  /** A change that makes each instance count what is open. */
  readonly committed: Committed
}

/**
 * The sessions, and the API keys, of one revocation that have a change each, and the keys that a count names.
 */
export const MAX_NAMED = 1000

/**
 * A revocation of a tenant or a user may take this many times as long as another call: with 100,000 sessions
 * it takes 6 s in PostgreSQL and 4.5 s in SQLite, and other writes of the store wait. Of a user, too: a thief
 * who signs in again and again must not be able to prevent it.
 */
export const REVOCATION_PATIENCE = 15

/** A revocation, and what its caller was told. */
export interface StoredRevocation extends Revocation {
  /** The answer as JSON; null: the writer ended before it had one. */
  readonly answer: string | null
  /**
   * Whether the subject has a cutoff that is not earlier; true for a session or an API key, which have none.
   * False: the store was changed by other means.
   */
  readonly isInForce: boolean
}

export interface RevocationPage {
  readonly limit: number
  /** The id of a revocation: the page contains older ones. */
  readonly after: string | null
  /** The subject of the revocations; null: any. */
  readonly subject: RevocationSubject | null
}

/** A revocation as its receipt tells it. */
export interface RevocationReceipt extends RevocationInput, Pick<Revocation, 'id' | 'at' | 'keptKey'> {
  /** The answer that the receipt has, as JSON. */
  readonly answer: string
}

/** What one receipt has changed. */
export interface AppliedReceipt extends Pick<Revocation, 'id' | 'at' | 'subject' | 'ended'> {
  /** False: the store had the revocation, and nothing was changed. */
  readonly isNew: boolean
  /** The user whose block is back; null: none is. */
  readonly blocked: string | null
}

export interface RevocationStore {
  /**
   * Voids what the subject was given up to now, in one transaction. For a user, an issuer and a tenant, a
   * cutoff stays, which never goes back. The sessions and API keys of the subject end, also those that have
   * expired: an instance whose clock is behind would accept them. A user whom the store does not know is no
   * refusal. The caller is in the admin space.
   *
   * The changes begin with the one of kind `revocation`. A change of kind `session` follows for each session
   * unless there are more than {@link MAX_NAMED}, one of kind `api-key` for each key, and one of kind
   * `block`. A session that is created after the commit is not concerned, one that was created before has
   * ended.
   */
  revoke(writer: Writer, input: RevocationInput): Promise<AdministrativeWrite<Revocation> | AdminRefusal>

  /**
   * {@link revoke} for an identity provider. The caller records the token as used
   * (`SessionStore.recordToken`) once each instance has been reached.
   */
  revokeForProvider(
    writer: Writer,
    input: RevocationInput,
    request: ProviderRequest,
  ): Promise<AdministrativeWrite<Revocation> | TokenState | AdminRefusal>

  /** What {@link revoke} would end now. Changes nothing but the feed, and the audit has no entry of it. */
  countRevocation(writer: Writer, input: RevocationInput): Promise<RevocationCount | AdminRefusal>

  /**
   * Stores the final answer. A second call changes nothing.
   *
   * @param answer JSON
   */
  answerRevocation(tenant: string, id: string, answer: string): Promise<void>

  revocationById(tenant: string, id: string): Promise<StoredRevocation | null>

  /** Newest first. */
  listRevocations(
    tenant: string,
    page: RevocationPage,
  ): Promise<{ data: StoredRevocation[]; hasMore: boolean }>

  /**
   * Makes the revocations of the receipts again that the store does not have, in order of their times and in
   * one transaction: with their ids, times and reasons. Of a user and a tenant, sessions and API keys end
   * that were created up to then. Of a key or a session that the store does not know, the revocation alone is
   * recorded. A block comes back unless its end has passed. The changes are those of {@link revoke}, of one
   * receipt after the other.
   *
   * @returns an item for each receipt, in order of their times
   */
  applyReceipts(
    writer: Writer,
    receipts: readonly RevocationReceipt[],
  ): Promise<Written<readonly AppliedReceipt[]> | AdminRefusal>
}
