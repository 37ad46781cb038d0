/**
 * The interfaces of the store: point reads of the data plane, the change feed, administration, the registry
 * of a fleet. `store-methods.ts` implements them for SQLite and PostgreSQL; the conformance suite in
 * `test/seats-admin/store/` specifies the behaviour.
 *
 * Every method rejects with {@link StoreUnavailable} when the store is unavailable or does not respond in
 * time. A write that rejects may have been committed; the change feed shows it.
 */

import type { Block, BlockOrigin } from '../model/block.ts'
import type { ApiKey, KeyUse } from '../model/api-key.ts'
import type { ChangeReader, Committed } from '../model/change.ts'
import type { ListedGrant } from '../model/grant.ts'
import type { Registry } from '../model/registered-instance.ts'
import type { AsOf, GrantReader, Named, RestrictionReader, SeatGrantReader } from '../model/readings.ts'
import type { AdminRefusal } from '../model/refusal.ts'
import type { Scope } from '../model/scope.ts'
import type { ListedSeat, SeatInput, StoredSeat, WantedSeats } from '../model/seat.ts'
import type { SeatsFrom } from '../model/seats-from.ts'
import type { SignedInIdentity, User } from '../model/user.ts'
import type { ListedSession } from '../model/session-record.ts'
import type { AuditStore } from './audit-store.ts'
import type { Health } from './health.ts'
import type {
  AppliedSeats,
  SeatHolders,
  SeatsPlan,
  SeatsReader,
  SeatVersions,
} from '../model/planned-seats.ts'
import type { TokenState } from '../model/used-token.ts'
import type { ProviderRequest, RevocationStore } from './revocation-store.ts'
import type { ComparedUser, ComparisonPage, UnseenUser } from '../model/scim-comparison.ts'
import type { ListedGroup, ListedMember } from '../model/listed-group.ts'
import type { ScimMode } from '../model/scim.ts'
import type { ScimStore } from './scim-store.ts'
import type { SessionPage, SessionStore } from './session-store.ts'
import type { TablesStore } from './tables-store.ts'
import type { StoreUnavailable } from './unavailable.ts'
import type { AdministrativeWrite, Writer, Written } from './writer.ts'

export { type StoreFault, StoreUnavailable } from './unavailable.ts'
export type { Actor, Writer, Written } from './writer.ts'

/** The reads of the data plane, and the complete Seat of a name. */
export interface SeatReader extends GrantReader, RestrictionReader, SeatGrantReader {
  seatByName(tenant: string, name: string): Promise<AsOf<Named<StoredSeat>>>
  seatById(tenant: string, id: string): Promise<AsOf<StoredSeat | null>>
}

export interface Page {
  readonly limit: number
  /** The page contains ids greater than this one. */
  readonly after: string | null
  /** The page contains only items visible in this scope. */
  readonly scope: Scope
  /**
   * The page contains only what grants this. Outside the admin space that is what grants it in the scope's
   * space, also Seats that list other spaces too, and API keys and users with one of these: the caller shows
   * that space alone.
   */
  readonly grant?: Grant | null
  /** What gives users Seats; null if left out. Pages of API keys do not depend on it. */
  readonly seatsFrom?: SeatsFrom
}

/** A page of users. */
export interface UserPage extends Page {
  /** A part of `sub`, or of the email address without regard to the case of ASCII letters. */
  readonly q?: string | null
}

/** A page of API keys. */
export interface ApiKeyPage extends Page {
  /** The owner of the keys; null: any, or none. */
  readonly owner?: string | null
}

/** A page of grants with an end, in order of creation. */
export interface GrantPage extends Pick<Page, 'limit' | 'after' | 'scope'> {
  /** The `sub` of the user; null: any. */
  readonly user: string | null
  /** The name or the id of the Seat; null: any. */
  readonly seat: string | null
  /** The page contains only grants that end before this time, in ms since the epoch; null: all. */
  readonly endingBefore: number | null
}

/** The permission `*` is held through `*` only. An invalid permission or space is granted by nothing. */
export interface Grant {
  readonly permission: string
  /** The space; null: any space. A Seat without spaces grants nothing. */
  readonly space: string | null
  /** ms since the epoch. API keys that have expired by then grant nothing. */
  readonly now: number
}

/**
 * With {@link Page.grant}, and of users, a call examines a bounded number of records: its page may be short,
 * or even empty, although more follow. Readers continue at `next` until it is null.
 */
export interface Listing<V> {
  readonly data: V[]
  /** Whether `next` is not null. Exact for Seats and API keys without a grant. */
  readonly hasMore: boolean
  /** `after` of the next page; null at the end. */
  readonly next: string | null
}

/** What a look at a store finds that neither creates nor changes it. */
export interface StoreInspection {
  /** The number of applied migrations; null: there is no store yet. */
  readonly version: number | null
  /** The version of this program. A start migrates an older store, and creates a missing one. */
  readonly current: number
}

/** Administration. Rules that depend on stored data are checked inside the transaction. */
export interface AdminStore {
  createSeat(writer: Writer, seat: SeatInput): Promise<AdministrativeWrite<StoredSeat> | AdminRefusal>
  updateSeat(
    writer: Writer,
    id: string,
    patch: Partial<SeatInput>,
  ): Promise<AdministrativeWrite<StoredSeat> | AdminRefusal>
  deleteSeat(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  /**
   * What {@link applySeats} would do now, by the rights of a reader. Not one snapshot: a saved plan names the
   * versions.
   */
  planSeats(reader: SeatsReader, wanted: WantedSeats): Promise<SeatsPlan | AdminRefusal>
  /** Users and API keys that a Seat has, as a plan has them; none where it is not visible. */
  seatHolders(reader: SeatsReader, id: string): Promise<SeatHolders>
  /**
   * Whether an API key in force whose owner is not blocked, or a user who is not blocked, holds a Seat that
   * administrates the tenant. Users are those who signed in; with Seats from SCIM, those who never did too.
   * Of more blocks than are read as a whole none counts: the answer may be yes then where it is no, and not
   * the other way round.
   */
  isAdministered(tenant: string, administration: Administration): Promise<boolean>
  /**
   * Makes the Seats what is wanted: all changes or none, in one transaction. Rights, names and the last
   * administrator are checked as by single writes, the latter on the state after all changes.
   *
   * @param versions of a plan: refused unless exactly its changes are due, at these versions; null: whatever
   *   is due
   */
  applySeats(
    writer: Writer,
    wanted: WantedSeats,
    versions: SeatVersions | null,
  ): Promise<AppliedSeats | AdminRefusal>
  readSeat(tenant: string, id: string, scope: Scope): Promise<StoredSeat | AdminRefusal>
  /**
   * With a grant, `permissions` is `["*"]` if the Seat holds that, else the granted permission alone: rows
   * stay small.
   */
  listSeats(tenant: string, page: Page): Promise<Listing<ListedSeat>>

  /** The store generates the key's text, returns it only here, and stores only its hash. */
  createApiKey(
    writer: Writer,
    key: ApiKeyInput,
  ): Promise<AdministrativeWrite<ApiKey & { key: string }> | AdminRefusal>
  /** A second revocation keeps the first time and is announced again. */
  revokeApiKey(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  readApiKey(tenant: string, id: string, scope: Scope): Promise<ApiKey | AdminRefusal>
  /** With a grant, only keys neither revoked nor expired, and `seats` has only the Seats that grant it. */
  listApiKeys(tenant: string, page: ApiKeyPage): Promise<Listing<ApiKey>>
  /**
   * Records uses of keys, for `lastUsedAt`, in one statement. A time never moves back; unknown keys are
   * ignored. No row in the feed, because no decision depends on it.
   */
  recordKeyUse(uses: readonly KeyUse[]): Promise<void>

  /**
   * Creates the Seat unless it exists as given, and the API key with it. One entry in the audit, whose target
   * is the Seat. Refused where another Seat has the name, unless it is to be restored.
   */
  bootstrap(writer: Writer, input: BootstrapInput): Promise<BootstrapResult | AdminRefusal>

  /** Live sessions. Users belong to the tenant, so the caller is in its admin space. */
  listSessions(tenant: string, page: SessionPage): Promise<{ data: ListedSession[]; hasMore: boolean }>
  /** An ended session keeps its time and is announced again. The caller is in the admin space. */
  endSession(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>

  /** A second block of a user of the same origin replaces the first and keeps its id. */
  createBlock(writer: Writer, block: BlockInput): Promise<AdministrativeWrite<Block> | AdminRefusal>
  /**
   * Deletes the block of the user of this origin for an identity provider, if there is one. The caller
   * records the token as used (`SessionStore.recordToken`).
   *
   * @param request after a newer block by an event (`saidAt`), the block stays
   * @returns the block; null: there was none, or it stays
   */
  liftBlock(
    writer: Writer,
    block: Pick<Block, 'user' | 'origin'>,
    request: Omit<ProviderRequest, 'logout'>,
  ): Promise<Written<Block | null> | TokenState | AdminRefusal>
  deleteBlock(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  /**
   * Without expired ones, in order of creation.
   *
   * @param after an id
   */
  listBlocks(
    tenant: string,
    page: { readonly limit: number; readonly after: string | null },
  ): Promise<{ data: Block[]; hasMore: boolean }>

  /**
   * Gives a user a Seat until a time. The Seat is one that the writer sees and could give to an API key. From
   * then on {@link listUsers} has the user, who may never have signed in.
   */
  createGrant(writer: Writer, grant: GrantInput): Promise<Written<ListedGrant> | AdminRefusal>
  /** A grant of a Seat that the writer sees, also one that has ended. */
  deleteGrant(writer: Writer, id: string): Promise<Written<null> | AdminRefusal>
  /** Without those that have ended by the time of the store. A refusal for a `seat` that may be two Seats. */
  listGrants(
    tenant: string,
    page: GrantPage,
  ): Promise<{ data: ListedGrant[]; hasMore: boolean } | AdminRefusal>

  /**
   * Records a sign-in, or a refresh that looked the Seats up again: the user, and these Seats in place of
   * earlier ones, also for `member_count`. In one transaction. Seats that were deleted since are skipped, and
   * a late call changes neither email, name nor time. A user whose `sub` no sign-in accepts (`isStorableSub`)
   * counts as a member and is not listed.
   */
  recordSignIn(tenant: string, user: SignedInIdentity, seatIds: readonly string[]): Promise<void>

  /** Users who signed in, by `sub`. The caller is in the admin space. */
  comparedUsers(tenant: string, mode: ScimMode, page: ComparisonPage): Promise<Listing<ComparedUser>>
  /** In order of creation. The caller is in the admin space. */
  unseenUsers(tenant: string, mode: ScimMode, page: ComparisonPage): Promise<Listing<UnseenUser>>

  /** A SCIM group. The caller is in the admin space. */
  listedGroup(tenant: string, id: string): Promise<ListedGroup | null>
  /**
   * SCIM groups in order of creation. The caller is in the admin space.
   *
   * @param page `q`: a part of the name, without regard to case; null: all
   */
  listedGroups(
    tenant: string,
    page: ComparisonPage & { readonly q: string | null },
  ): Promise<Listing<ListedGroup>>
  /** Members of a SCIM group, in order of the ids of the users. The caller is in the admin space. */
  listedMembers(
    tenant: string,
    mode: ScimMode,
    group: string,
    page: ComparisonPage,
  ): Promise<Listing<ListedMember>>

  /** Outside the admin space a user is visible through a visible Seat, and only such Seats are named. */
  readUser(tenant: string, sub: string, scope: Scope, seatsFrom?: SeatsFrom): Promise<User | null>
  /**
   * At most `limit` users whose latest sign-in had this email address, without regard to the case of ASCII
   * letters.
   *
   * @returns each `sub`, in byte order
   */
  usersByEmail(tenant: string, email: string, limit: number): Promise<string[]>

  /**
   * Whether the user has signed in, owns an API key that is not revoked, or has a session that has not ended.
   */
  isKnownUser(tenant: string, sub: string): Promise<boolean>

  /**
   * In byte order of `sub`, which is what `after` and `next` are. With a grant `seats` has only the Seats
   * that grant it.
   */
  listUsers(tenant: string, page: UserPage): Promise<Listing<User>>
}

/** The state of the store, and changes that count as made. */
export interface Administration {
  /** The tenant's admin space. */
  readonly space: string
  /** ms since the epoch: API keys that have expired by then do not count. */
  readonly now: number
  /** Ids of Seats that do not administrate, whatever they hold. */
  readonly without?: readonly string[]
  /** Ids of Seats that administrate, whatever they hold. */
  readonly also?: readonly string[]
  /** Ids of API keys that count as revoked. */
  readonly revoked?: readonly string[]
  /** `sub` of each user that counts as blocked, beside those who are. */
  readonly blocked?: readonly string[]
  /** Null if left out. */
  readonly seatsFrom?: SeatsFrom
}

export interface BlockInput {
  readonly user: string
  /** ms since the epoch; null: until it is deleted. */
  readonly until: number | null
  readonly reason: string | null
  /** `admin` if absent. */
  readonly origin?: BlockOrigin
}

export interface GrantInput {
  readonly user: string
  /** The name or the id of the Seat. */
  readonly seat: string
  /** ms since the epoch; null, or a time in the past: now. */
  readonly from: number | null
  /** ms since the epoch, in the future and after `from`. */
  readonly until: number
  readonly reason: string | null
}

export interface ApiKeyInput {
  readonly name: string
  /** Seat names. */
  readonly seats: readonly string[]
  /** ms since the epoch; null: never. */
  readonly expiresAt: number | null
  /** The `sub` of its owner; null or absent: it has none. */
  readonly owner?: string | null
}

export interface BootstrapInput {
  readonly seat: SeatInput
  /** The name of the API key; null: none is created. */
  readonly apiKey: string | null
  /** Gives another Seat of the name the spaces and permissions of `seat`. */
  readonly restores: boolean
}

export interface BootstrapResult {
  readonly seat: StoredSeat
  /** The Seat as it was; null: it was created. */
  readonly before: StoredSeat | null
  readonly apiKey: (ApiKey & { readonly key: string }) | null
  /** The position of the write; null: there was nothing to do. */
  readonly committed: Committed | null
}

/** Ownership of a store that serves one gateway at a time. */
export interface Ownership {
  /**
   * False when another gateway owned the store before, or another process had it open: it may have a lease.
   */
  readonly alone: boolean
  /** Resolves when another gateway becomes the owner. Then every call rejects. */
  readonly superseded: Promise<StoreUnavailable>
}

export interface Store extends SeatReader, ChangeReader, AdminStore, RevocationStore, ScimStore, TablesStore {
  /** The registry of the fleet; null for a store of one gateway. */
  readonly registry: Registry | null
  /** The ownership; null for a shared store, and for a store that no gateway has opened. */
  readonly ownership: Ownership | null
  readonly sessions: SessionStore
  readonly audit: AuditStore
  /** The time of the store in ms since the epoch. */
  clock(): Promise<number>
  /** The health as observed by calls. */
  readonly health: Health
  close(): Promise<void>
}
