/**
 * The interfaces of the store: point reads of the data plane, the change feed, administration, the registry of a fleet.
 * SQLite and PostgreSQL implement them; the conformance suite in `test/seats-admin/store/` specifies the behaviour.
 *
 * Every method rejects with {@link StoreUnavailable} when the store is unavailable or does not respond in time. A write
 * that rejects may have been committed; the change feed shows it.
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

/** A value, and the store position of the same snapshot. */
export interface AsOf<V> extends Position {
  readonly value: V
}

/**
 * The Seat of a name. `givenUpAt`: whole seconds since the epoch when the name was last given up, by the later of the
 * store's and the writer's clock; null if never.
 */
export interface NameReading {
  readonly seat: StoredSeat | null
  readonly givenUpAt: number | null
}

/** The query of a decision: whether a Seat has the space and the permission. */
export interface SeatQuestion {
  readonly space: string
  readonly permission: string
}

/**
 * The part of a Seat that one question needs. Small Seats are `complete`. Of others, `spaces` and `permissions` contain at
 * most the requested space, and the requested permission or `*`, of one snapshot.
 */
export interface GrantReading {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  readonly complete: boolean
}

/** The part of a Seat that sign-in needs. */
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
 * Point reads of the data plane. `grant…` for decisions; `spaces…` for sign-in, without permissions; `seat…` reads the
 * complete Seat of any size.
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
   * In order, up to the head. Null when they are unknown: no longer all retained, more than 1,000, or the given position is
   * not of this history (its mark differs, or its number is ahead).
   */
  readonly changes: readonly NumberedChange[] | null
}

/** Reads the change feed. */
export interface ChangeReader {
  /** All changes after `position`; from null, all retained ones, at most 10,000. */
  changesSince(position: Position | null): Promise<FeedReading>
}

/** The instances of a shared store, all of which must apply a change before the response to its write. */
export interface Registry {
  /** Durable before it resolves. */
  register(id: string, name: string): Promise<void>
  /**
   * A heartbeat and a reading of the feed in one statement. `registered` is false when the instance is not registered
   * (any more): nothing was written then, and the reading must not be used for a lease.
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
   * Removes an instance without a heartbeat since `beat`. Rejects for ten seconds after the connection to the store has
   * broken: a crash may have undone the newest heartbeats, so the observer may have missed some.
   */
  forget(id: string, beat: number): Promise<void>
  /** Removes an instance that has stopped deciding. */
  leave(id: string): Promise<void>
}

/** The author of a write, their scope, and the time in ms since the epoch. */
export interface Writer {
  readonly tenant: string
  /** The token's `sub` or the API key's id: stored as created_by, updated_by. */
  readonly by: string
  readonly scope: Scope
  readonly now: number
  /** Limit of a Seat's size in bytes; none when absent. See `seatSize`. */
  readonly seatBytes?: number
}

export interface Page {
  readonly limit: number
  /** The page contains ids greater than this one. */
  readonly after: string | null
  /** The page contains only items visible in this scope. */
  readonly scope: Scope
}

/** The result of a durable write. */
export interface Written<V> extends Committed {
  readonly value: V
}

/** Administration. Rules that depend on stored data are checked inside the transaction. */
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

  /** The store generates the key's text, returns it only here, and stores only its hash. */
  createApiKey(writer: Writer, key: ApiKeyInput): Promise<Written<ApiKey & { key: string }> | AdminRefusal>
  /** A second revocation keeps the first time and is announced again. */
  revokeApiKey(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  readApiKey(tenant: string, id: string, scope: Scope): Promise<ApiKey | AdminRefusal>
  listApiKeys(tenant: string, page: Page): Promise<{ data: ApiKey[]; hasMore: boolean }>

  /** Records the Seats of a user's latest sign-in, for `member_count`. */
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

/** Ownership of a store that serves one gateway at a time. */
export interface Ownership {
  /** False when another gateway owned the store before, or another process had it open: it may have a lease. */
  readonly alone: boolean
  /** Resolves when another gateway becomes the owner. Then every call rejects. */
  readonly superseded: Promise<StoreUnavailable>
}

export interface Store extends SeatReader, ChangeReader, AdminStore {
  /** Null for a store of one gateway. */
  readonly registry: Registry | null
  /** Null for a shared store, and for a store not opened by a gateway. */
  readonly ownership: Ownership | null
  readonly sessions: SessionStore
  /** The health as observed by calls. */
  readonly health: Health
  close(): Promise<void>
}
