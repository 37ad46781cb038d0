/**
 * The store by what its callers may do: the data plane reads, the feed follows, administration writes, a fleet
 * registers. SQLite and PostgreSQL stand behind the same interfaces; the conformance suite in
 * `test/seats-admin/store/` says what each must do.
 *
 * Every method rejects with {@link StoreUnavailable} when the store can't be asked or doesn't answer in time. A write
 * that does may have been committed all the same, if its answer was all that was late: the change feed will tell.
 */

import type { Instance } from '../model/instance.ts'
import type { ApiKey, StoredApiKey } from '../model/api-key.ts'
import type { Committed, NumberedChange, Position } from '../model/change.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../model/seat.ts'
import type { Health } from './health.ts'
import type { SessionStore } from './session-store.ts'
import type { StoreUnavailable } from './unavailable.ts'

export { type StoreFault, StoreUnavailable } from './unavailable.ts'

/** A value, and the newest change that the same snapshot of the store had seen. */
export interface AsOf<V> extends Position {
  readonly value: V
}

/** What a Seat name means. `givenUpAt`: whole seconds of the latest giving up, by the later of the store's clock and the writer's; null if never. */
export interface NameReading {
  readonly seat: StoredSeat | null
  readonly givenUpAt: number | null
}

/** What a decision asks of a Seat: does it list the space, and hold the permission? */
export interface SeatQuestion {
  readonly space: string
  readonly permission: string
}

/**
 * A Seat as far as one question needs it. Small Seats are `complete`, and answer every question. Of others, `spaces` and
 * `permissions` have at most the space that was asked for, and the permission or `*`, all of one snapshot.
 */
export interface GrantReading {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  readonly complete: boolean
}

/** What sign-in needs of a Seat. */
export interface SpacesReading {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
}

export interface NamedGrantReading {
  readonly seat: GrantReading | null
  readonly givenUpAt: number | null
}

/**
 * For the data plane: point reads. `grant…` for decisions; `spaces…` for sign-in, without the permissions; `seat…` reads
 * all of a Seat, whatever its size.
 */
export interface SeatReader {
  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<AsOf<NamedGrantReading>>
  grantById(tenant: string, id: string, question: SeatQuestion): Promise<AsOf<GrantReading | null>>
  spacesByName(tenant: string, name: string): Promise<AsOf<SpacesReading | null>>
  seatByName(tenant: string, name: string): Promise<AsOf<NameReading>>
  seatById(tenant: string, id: string): Promise<AsOf<StoredSeat | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<StoredApiKey | null>>
}

/** A reading of the feed: one snapshot. */
export interface FeedReading {
  readonly head: Position
  /**
   * In order, up to the head. Null where they can't be told: no longer all kept, more than 1,000, or the position asked
   * for is not one of this history (its mark is another, or its number is ahead).
   */
  readonly changes: readonly NumberedChange[] | null
}

/** For the feed. */
export interface ChangeReader {
  /** All changes after `position`; from null, the newest ones kept, 10,000 at most. */
  changesSince(position: Position | null): Promise<FeedReading>
}

/** For a store that several gateways share: who must have heard of a change before it is answered. */
export interface Registry {
  /** Durable before it resolves. */
  register(id: string, name: string): Promise<void>
  /**
   * A sign of life and a reading of the feed in one statement. `registered` is false when the instance is not on the
   * list (any more): then nothing was written, and the reading must not be used for a lease.
   *
   * @param applied the newest change that every process of the instance has applied
   */
  follow(
    id: string,
    beat: number,
    position: Position | null,
    applied: number,
  ): Promise<FeedReading & { readonly registered: boolean }>
  instances(): Promise<readonly Instance[]>
  /**
   * Takes it off the list unless it has given a sign of life since `beat`. Rejects for ten seconds after the connection
   * to the store has broken: a crash may have undone the newest beats, so whoever watched one may have missed others.
   */
  forget(id: string, beat: number): Promise<void>
  /** It has stopped deciding. */
  leave(id: string): Promise<void>
}

/** Who writes, what they may, when. `now`: ms since the epoch. */
export interface Writer {
  readonly tenant: string
  /** The token's `sub` or the API key's id: stored as created_by, updated_by. */
  readonly by: string
  readonly scope: Scope
  readonly now: number
  /** Bytes that a Seat may take once it is written; left out: any. See `seatSize`. */
  readonly seatBytes?: number
}

export interface Page {
  readonly limit: number
  /** Only ids greater than this one. */
  readonly after: string | null
  /** Only what this caller may see. */
  readonly scope: Scope
}

/** What a write gives back once it is on disk. */
export interface Written<V> extends Committed {
  readonly value: V
}

/** For administration. Rules that depend on stored state (who may grant what) are checked inside the transaction. */
export interface AdminStore {
  createSeat(writer: Writer, seat: SeatInput): Promise<Written<StoredSeat> | AdminRefusal>
  updateSeat(
    writer: Writer,
    id: string,
    patch: Partial<SeatInput>,
  ): Promise<Written<StoredSeat> | AdminRefusal>
  deleteSeat(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  readSeat(tenant: string, id: string, scope: Scope): Promise<StoredSeat | AdminRefusal>
  listSeats(tenant: string, page: Page): Promise<{ data: ListedSeat[]; hasMore: boolean }>

  /** The store makes the key's text, gives it back this once, and keeps its hash only. */
  createApiKey(writer: Writer, key: ApiKeyInput): Promise<Written<ApiKey & { key: string }> | AdminRefusal>
  /** Revoking a revoked key keeps its time, and is announced again. */
  revokeApiKey(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  readApiKey(tenant: string, id: string, scope: Scope): Promise<ApiKey | AdminRefusal>
  listApiKeys(tenant: string, page: Page): Promise<{ data: ApiKey[]; hasMore: boolean }>

  /** Records which Seats a user's latest sign-in carried. Feeds `member_count`; sign-in calls it. */
  recordMember(tenant: string, user: string, seatIds: readonly string[]): Promise<void>
}

export interface SeatInput {
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

export interface ApiKeyInput {
  readonly name: string
  /** Seat names. */
  readonly seats: readonly string[]
  /** ms since the epoch; null: never. */
  readonly expiresAt: number | null
}

/** Of a store that takes one gateway at a time. */
export interface Ownership {
  /** False where another gateway owned the store before, or another process had it open: it may have a lease. */
  readonly alone: boolean
  /** Resolves when another gateway has become the owner. From then on every call rejects. */
  readonly superseded: Promise<StoreUnavailable>
}

export interface Store extends SeatReader, ChangeReader, AdminStore {
  /** Null where one gateway has the store to itself. */
  readonly registry: Registry | null
  /** Null where a fleet shares the store, and where it was not opened for a gateway. */
  readonly ownership: Ownership | null
  readonly sessions: SessionStore
  /** What calls have found of it. */
  readonly health: Health
  close(): Promise<void>
}
