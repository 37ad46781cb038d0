/**
 * The interfaces of the store: point reads of the data plane, the change feed, administration, the registry of a fleet.
 * SQLite and PostgreSQL implement them; the conformance suite in `test/seats-admin/store/` specifies the behaviour.
 *
 * Every method rejects with {@link StoreUnavailable} when the store is unavailable or does not respond in time. A write
 * that rejects may have been committed; the change feed shows it.
 */

import type { ApiKey } from '../model/api-key.ts'
import type { ChangeReader, Committed } from '../model/change.ts'
import type { Registry } from '../model/instance.ts'
import type { AsOf, GrantReader, Named } from '../model/readings.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { ListedSeat, SeatInput, StoredSeat } from '../model/seat.ts'
import type { Health } from './health.ts'
import type { SessionStore } from './session-store.ts'
import type { StoreUnavailable } from './unavailable.ts'

export { type StoreFault, StoreUnavailable } from './unavailable.ts'

/** The reads of the data plane, and the complete Seat of a name. */
export interface SeatReader extends GrantReader {
  seatByName(tenant: string, name: string): Promise<AsOf<Named<StoredSeat>>>
  seatById(tenant: string, id: string): Promise<AsOf<StoredSeat | null>>
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
