/**
 * Cached Seats, API keys and sign-in sessions, compiled for decisions, as the store last returned them. The
 * lease invalidates entries. The cost depends on the entries in use, not on those stored.
 */

import { CacheLookups, type Lookups } from '../../model/cache-lookups.ts'
import type { ChangeKind, NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import { performance } from 'node:perf_hooks'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SpacesReading } from '../../../seats-admin/model/readings.ts'
import { noticeOf, type RevocationNotice } from '../../../seats-admin/model/revocation.ts'
import type { SeatLists } from '../../../seats-admin/model/seat.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import { entryBytes, LruBudget, LruMap } from '../../lib/lru-maps.ts'
import type { Trace } from '../../model/decision.ts'
import type { NamedSeat, Seat, SeatQuestion } from '../../model/decision-seat.ts'
import type { Refusal } from '../../model/errors.ts'
import { changedMembers, changedUsers, type Groups } from '../../model/membership.ts'
import {
  compileGroups,
  compileKey,
  compileSeat,
  compileSession,
  groupsBytes,
  keyBytes,
  seatBytes,
  sessionBytes,
} from './compiled-records.ts'
import { FairReads, loader } from './fair-reads.ts'
import {
  type Grantee,
  Grants,
  type GrantsInForce,
  tenantGrants,
  tenantGrantsBytes,
  userGrants,
  userGrantsBytes,
  withTime,
} from './grants.ts'
import {
  type AsOf,
  type Cached,
  type Question,
  ReadThrough,
  type ReadThroughOptions,
  WHOLE,
} from './read-through.ts'
import { ReceivedChanges } from './received-changes.ts'
import type { DirectSource, SeatSource } from './record-sources.ts'
import {
  monotonic,
  type Restrictable,
  type RestrictionLookup,
  Restrictions,
  tenantLimits,
  tenantLimitsBytes,
  USER_LIMITS_BYTES,
  userLimits,
} from './restrictions.ts'

/** Invalidates an entry. A read in flight counts only if its state includes change `seq`. */
export type SeatChange = Omit<NumberedChange, 'mark'>

/** The bounds of reads in flight; `maxWait` in ms. SQLite reads 8 of the largest Seats in 0.5 ms. */
const READS = { perTenant: 8, total: 64, waiting: 5000, maxWait: 2000, now: () => performance.now() }

/** The lower bounds for sign-in: one claim names up to 1,000 Seats, each with up to 64 KiB of spaces. */
const SIGN_IN_READS = { ...READS, perTenant: 4, total: 16 }

/** All may be left out. */
interface SeatMemoryOptions {
  readonly lookups?: CacheLookups
  /** The clock by which blocks and grants end, in monotonic ms. */
  readonly now?: () => number
  /** The wall clock by which they end too, in ms since the epoch. */
  readonly wall?: () => number
  /** Left out: no feed is followed. */
  readonly received?: ReceivedChanges
}

export class SeatMemory implements RestrictionLookup {
  readonly received: ReceivedChanges
  readonly #budget = new LruBudget(0)
  /**
   * The budget of keys and sessions that do not exist. Clients can invent any number of them: in the other
   * budget they would evict the records of genuine callers.
   */
  readonly #missing = new LruBudget(0)
  readonly #names: ReadThrough<NamedSeat, SeatQuestion>
  readonly #seats: ReadThrough<Seat | null, SeatQuestion>
  readonly #keys: ReadThrough<StoredApiKey | null>
  readonly #sessions: ReadThrough<SessionRecord | null>
  readonly #memberships: ReadThrough<Groups | null>
  readonly #restrictions: Restrictions
  readonly #grants: Grants
  readonly #reads = new FairReads(READS)
  /** A queue of its own: requests with invented keys and sessions must not delay reads of Seats. */
  readonly #credentialReads = new FairReads(READS)
  /** A queue of its own: sign-ins must not delay decisions of the same tenant. */
  readonly #signInReads = new FairReads(SIGN_IN_READS)
  readonly #source: SeatSource

  /** @param bytes bound of all cached entries together */
  constructor(source: SeatSource, direct: DirectSource, bytes: number, options: SeatMemoryOptions = {}) {
    const { lookups = new CacheLookups(), now = monotonic, wall = Date.now } = options
    const { received = new ReceivedChanges() } = options
    this.received = received
    this.#source = source
    this.resize(bytes)
    this.#names = new ReadThrough<NamedSeat, SeatQuestion>({
      kind: 'seat-name',
      received,
      load: loader(
        this.#reads,
        (tenant, name, question) => source.grantByName(tenant, name, question),
        ({ seat, givenUpAt }) => ({ seat: compileSeat(seat), givenUpAt }),
      ),
      cache: this.#map(this.#budget, ({ seat }) => seatBytes(seat)),
      isWhole: ({ seat }) => seat === null || seat.complete,
      lookups: lookups.seat_names,
    })
    this.#seats = new ReadThrough<Seat | null, SeatQuestion>({
      kind: 'seat',
      received,
      load: loader(
        this.#reads,
        (tenant, id, question) => source.grantById(tenant, id, question),
        compileSeat,
      ),
      cache: this.#map(this.#budget, seatBytes),
      isWhole: (seat) => seat === null || seat.complete,
      lookups: lookups.seats,
    })
    this.#keys = new ReadThrough(
      this.#records('api-key', lookups.api_key_records, this.#maps(keyBytes), {
        load: (tenant, id) => source.apiKeyById(tenant, id),
        compiled: compileKey,
      }),
    )
    this.#sessions = new ReadThrough(
      this.#records('session', lookups.sessions, this.#maps(sessionBytes), {
        load: (tenant, id) => direct.readSession(tenant, id),
        compiled: compileSession,
      }),
    )
    this.#memberships = new ReadThrough(
      this.#records('membership', lookups.memberships, this.#maps(groupsBytes), {
        load: (tenant, member) => direct.groups(tenant, member),
        compiled: compileGroups,
      }),
    )
    this.#grants = new Grants({
      now,
      wall,
      ofTenant: this.#records('grant', lookups.grants, this.#list(tenantGrantsBytes), {
        load: (tenant) => withTime(now, () => direct.grants(tenant)),
        compiled: (reading) => tenantGrants(reading, now()),
      }),
      ofUser: this.#records('grant', lookups.grants, this.#maps(userGrantsBytes), {
        load: (tenant, user) => withTime(now, () => direct.userGrants(tenant, user)),
        compiled: (reading) => userGrants(reading, now()),
      }),
    })
    this.#restrictions = new Restrictions({
      now,
      wall,
      ofTenant: this.#records('block', lookups.blocks, this.#list(tenantLimitsBytes), {
        load: (tenant) => direct.restrictions(tenant),
        compiled: (reading) => tenantLimits(reading, now()),
      }),
      ofUser: this.#records(
        'block',
        lookups.blocks,
        this.#maps(() => USER_LIMITS_BYTES),
        {
          load: (tenant, user) => direct.userRestriction(tenant, user),
          compiled: (reading) => userLimits(reading, now()),
        },
      ),
    })
  }

  /** The options for records of credentials and users. */
  #records<R, V>(
    kind: ChangeKind,
    lookups: Lookups,
    maps: Pick<ReadThroughOptions<V, Question>, 'cache' | 'missing'>,
    source: { load(tenant: string, id: string): Promise<AsOf<R>>; compiled(row: R): V },
  ): ReadThroughOptions<V, Question> {
    const load = loader(this.#credentialReads, source.load, source.compiled)
    return { kind, received: this.received, load, ...maps, lookups }
  }

  #map<V>(budget: LruBudget, bytesOf: (value: V) => number): LruMap<Cached<V>> {
    return new LruMap(budget, (tenant, id, { whole, byQuestion }) => {
      let bytes = whole === undefined ? 0 : bytesOf(whole)
      for (const [question, value] of byQuestion) bytes += entryBytes(question, bytesOf(value))
      return entryBytes(tenant + id, bytes)
    })
  }

  /** One map for existing records, one for missing ones. */
  #maps<V>(bytesOf: (value: V) => number) {
    const bytes = (value: V | null) => (value === null ? 0 : bytesOf(value))
    return { cache: this.#map(this.#budget, bytes), missing: this.#map(this.#missing, bytes) }
  }

  /** One map for lists, which always exist. */
  #list<V>(bytesOf: (value: V) => number) {
    return { cache: this.#map(this.#budget, bytesOf) }
  }

  /** Sets the bound, in bytes. */
  resize(bytes: number): void {
    const missing = bytes / MISSING_SHARE
    this.#budget.resize(bytes - missing)
    this.#missing.resize(missing)
  }

  /** Bytes of all cached entries; an upper estimate. */
  get bytes(): number {
    return this.#budget.weight + this.#missing.weight
  }

  /** Reads of the store that wait for their turn. */
  get waiting(): number {
    return this.#reads.waiting + this.#credentialReads.waiting + this.#signInReads.waiting
  }

  seatByName(
    tenant: string,
    name: string,
    question: SeatQuestion,
    trace?: Trace,
  ): NamedSeat | Promise<NamedSeat> {
    return this.#names.get(tenant, name, question, trace)
  }

  seatById(
    tenant: string,
    id: string,
    question: SeatQuestion,
    trace?: Trace,
  ): Seat | null | Promise<Seat | null> {
    return this.#seats.get(tenant, id, question, trace)
  }

  /** Reads the whole Seat from the store; not cached. */
  wholeSeat(tenant: string, id: string, trace: Trace): Promise<SeatLists | null> {
    return trace.read('seat', tenant, id, () =>
      this.#reads.run(tenant, () => this.#source.seatById(tenant, id)),
    )
  }

  /** Reads a Seat without its permissions from the store, for sign-in; not cached. */
  async spacesByName(tenant: string, name: string): Promise<SpacesReading | null> {
    return (await this.#signInReads.run(tenant, () => this.#source.spacesByName(tenant, name))).value
  }

  apiKeyById(tenant: string, id: string, trace?: Trace): StoredApiKey | null | Promise<StoredApiKey | null> {
    return this.#keys.get(tenant, id, WHOLE, trace)
  }

  sessionById(
    tenant: string,
    id: string,
    trace?: Trace,
  ): SessionRecord | null | Promise<SessionRecord | null> {
    return this.#sessions.get(tenant, id, WHOLE, trace)
  }

  /** The session in the store now, whatever memory has. */
  readSession(
    tenant: string,
    id: string,
    trace?: Trace,
  ): SessionRecord | null | Promise<SessionRecord | null> {
    return this.#sessions.getNow(tenant, id, WHOLE, trace)
  }

  restriction(caller: Restrictable, trace?: Trace): Refusal | null | Promise<Refusal | null> {
    return this.#restrictions.restriction(caller, trace)
  }

  /**
   * The groups of a user: `DEACTIVATED` if the user is not active; null: SCIM has no such user.
   *
   * @param member the id of the membership
   */
  groupsOf(tenant: string, member: string, trace?: Trace): Groups | null | Promise<Groups | null> {
    return this.#memberships.get(tenant, member, WHOLE, trace)
  }

  /** The grants of the caller that are in force now; null: none is, and none will be, as of an API key. */
  grantsOf(caller: Grantee, trace?: Trace): GrantsInForce | null | Promise<GrantsInForce | null> {
    return this.#grants.of(caller, trace)
  }

  applyAnnouncement(changes: readonly SeatChange[]): void {
    this.received.startGeneration()
    for (const change of changes) this.#forget(change)
  }

  /** @param head the position at which the reading has ended */
  applyReading(changes: readonly SeatChange[] | null, head: Pick<Position, 'seq'>): void {
    this.received.startGeneration()
    for (const change of changes ?? []) this.#forget(change)
    if (changes === null) {
      this.#forgetAll()
      this.received.allChanged()
    }
    this.received.readTo(head.seq, changes !== null)
  }

  #forget({ tenant, kind, key, seq }: SeatChange): void {
    if (kind === 'tables' || kind === 'tables-candidate') return this.received.unchanged(seq)
    if (kind === 'revocation') return this.#forgetVoided(tenant, noticeOf(key), seq)
    if (kind === 'membership')
      return this.#forgetOf(kind, this.#memberships, tenant, changedMembers(key), seq)
    if (kind === 'grant') return this.#forgetOf(kind, this.#grants, tenant, changedUsers(key), seq)
    const id = kind === 'block' ? JSON.parse(key) : key
    if (kind === 'seat') this.#seats.invalidate(tenant, id, seq)
    else if (kind === 'seat-name') this.#names.invalidate(tenant, id, seq)
    else if (kind === 'api-key') this.#keys.invalidate(tenant, id, seq)
    else if (kind === 'session') this.#sessions.invalidate(tenant, id, seq)
    else if (kind === 'block') this.#restrictions.invalidate(tenant, id, seq)
    else return this.#forgetUnknown(seq)
    this.received.changed(kind, tenant, id, seq)
  }

  /** @param notice null: of a form that is unknown here */
  #forgetVoided(tenant: string, notice: RevocationNotice | null, seq: number): void {
    if (notice === null) return this.#forgetUnknown(seq)
    const { subject, count = false, listed = false } = notice
    // One API key and one session have a change of their own.
    if (count || 'api_key' in subject || 'session' in subject) return this.received.unchanged(seq)
    if ('user' in subject) {
      this.#restrictions.invalidate(tenant, subject.user, seq)
      this.received.changed('block', tenant, subject.user, seq)
    } else {
      this.#restrictions.invalidateTenant(tenant, seq)
      this.received.changedWide('block', tenant, seq)
    }
    if (listed || 'issuer' in subject) return
    this.#sessions.invalidateTenant(tenant, seq)
    this.received.changedWide('session', tenant, seq)
    this.#keys.invalidateTenant(tenant, seq)
    this.received.changedWide('api-key', tenant, seq)
  }

  /** @param ids null: all those of the tenant */
  #forgetOf(
    kind: 'membership' | 'grant',
    records: Pick<Grants, 'invalidate' | 'invalidateTenant'>,
    tenant: string,
    ids: readonly string[] | null,
    seq: number,
  ): void {
    if (ids === null) {
      records.invalidateTenant(tenant, seq)
      this.received.changedWide(kind, tenant, seq)
    } else
      for (const id of ids) {
        records.invalidate(tenant, id, seq)
        this.received.changed(kind, tenant, id, seq)
      }
  }

  /** A newer program wrote a change that is unknown here: it may concern anything. */
  #forgetUnknown(seq: number): void {
    this.#forgetAll()
    this.received.allChanged(seq)
  }

  #forgetAll(): void {
    this.#names.clear()
    this.#seats.clear()
    this.#keys.clear()
    this.#sessions.clear()
    this.#memberships.clear()
    this.#restrictions.clear()
    this.#grants.clear()
  }

  /** Cached entries by kind, for metrics. */
  get sizes() {
    return {
      names: this.#names.size,
      seats: this.#seats.size,
      keys: this.#keys.size,
      sessions: this.#sessions.size,
      memberships: this.#memberships.size,
      grants: this.#grants.size,
      blocks: this.#restrictions.size,
    }
  }
}

/** The divisor of the bound that gives the share of missing keys and sessions. */
const MISSING_SHARE = 16
