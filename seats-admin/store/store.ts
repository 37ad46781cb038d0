/**
 * The store by what its callers may do: the data plane reads, the feed follows, administration writes.
 * SQLite is here now; PostgreSQL comes behind the same interfaces. The conformance suite in
 * `test/seats-admin/store/` says what each must do.
 *
 * Every method rejects with {@link StoreUnavailable} when the store can't be asked or doesn't answer in time. A write
 * that does may have been committed all the same, if its answer was all that was late: the change feed will tell.
 */

import type { ApiKey, StoredApiKey } from '../model/api-key.ts'
import type { Change, Committed } from '../model/change.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { ListedSeat, StoredSeat } from '../model/seat.ts'

/** The store can't be asked, is locked by another program, or took too long. */
export class StoreUnavailable extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'StoreUnavailable'
  }
}

/** A value, and the newest `seq` that the same snapshot of the store had seen. */
export interface AsOf<V> {
  readonly seq: number
  readonly value: V
}

/** What a Seat name means. `givenUpAt`: whole seconds of the latest giving up; null if never. */
export interface NameReading {
  readonly seat: StoredSeat | null
  readonly givenUpAt: number | null
}

/** For the data plane: point reads. */
export interface SeatReader {
  seatByName(tenant: string, name: string): Promise<AsOf<NameReading>>
  seatById(tenant: string, id: string): Promise<AsOf<StoredSeat | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<StoredApiKey | null>>
}

/** For the feed. */
export interface ChangeReader {
  /** The newest seq, and all changes after `seq` in order; `changes` is null where they are no longer all kept. */
  changesSince(seq: number): Promise<{ readonly seq: number; readonly changes: readonly Change[] | null }>
}

/** Who writes, what they may, when. `now`: ms since the epoch. */
export interface Writer {
  readonly tenant: string
  /** The token's `sub` or the API key's id: stored as created_by, updated_by. */
  readonly by: string
  readonly scope: Scope
  readonly now: number
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

export interface Store extends SeatReader, ChangeReader, AdminStore {
  close(): Promise<void>
}
