/**
 * Cached Seats, API keys and sign-in sessions, compiled for decisions, as the store last returned them. The
 * lease invalidates entries. The cost depends on the entries in use, not on those stored.
 */

import { CacheLookups } from '../../model/cache-lookups.ts'
import type { NumberedChange, Position } from '../../../seats-admin/model/change.ts'
import { performance } from 'node:perf_hooks'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { GrantReading, Named, SpacesReading } from '../../../seats-admin/model/readings.ts'
import {
  noticeOf,
  type RestrictionsReading,
  type RevocationNotice,
  type UserRestrictionReading,
} from '../../../seats-admin/model/revocation.ts'
import type { SeatLists } from '../../../seats-admin/model/seat.ts'
import type { SessionRecord } from '../../../seats-admin/model/session-record.ts'
import { entryBytes, LruBudget, LruMap } from '../../lib/lru-maps.ts'
import type { Trace } from '../../model/decision.ts'
import type { NamedSeat, Seat, SeatQuestion } from '../../model/decision-seat.ts'
import type { Refusal } from '../../model/errors.ts'
import {
  compileKey,
  compileSeat,
  compileSession,
  keyBytes,
  seatBytes,
  sessionBytes,
} from './compiled-records.ts'
import { FairReads } from './fair-reads.ts'
import { type AsOf, ReadThrough, type Cached, WHOLE } from './read-through.ts'
import { ReceivedChanges } from './received-changes.ts'
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

/** The reads that memory sends to the store. */
export interface SeatSource {
  grantByName(tenant: string, name: string, question: SeatQuestion): Promise<AsOf<Named<GrantReading>>>
  grantById(tenant: string, id: string, question: SeatQuestion): Promise<AsOf<GrantReading | null>>
  spacesByName(tenant: string, name: string): Promise<AsOf<SpacesReading | null>>
  seatById(tenant: string, id: string): Promise<AsOf<SeatLists | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<StoredApiKey | null>>
}

/**
 * Read from the store directly. Each session belongs to one browser, so a shared cache would rarely hit; the
 * restrictions of a tenant are read once and kept.
 */
export interface DirectSource {
  readSession(tenant: string, id: string): Promise<AsOf<SessionRecord | null>>
  restrictions(tenant: string): Promise<AsOf<RestrictionsReading>>
  userRestriction(tenant: string, user: string): Promise<AsOf<UserRestrictionReading>>
}

/** @param store the store of a gateway */
export function directSource(
  store: Omit<DirectSource, 'readSession'> & { readonly sessions: Pick<DirectSource, 'readSession'> },
): DirectSource {
  return {
    readSession: (tenant, id) => store.sessions.readSession(tenant, id),
    restrictions: (tenant) => store.restrictions(tenant),
    userRestriction: (tenant, user) => store.userRestriction(tenant, user),
  }
}

/**
 * The bounds of reads in flight; `maxWait` in ms. SQLite reads 8 of the largest Seats in half a millisecond.
 */
const READS = { perTenant: 8, total: 64, waiting: 5000, maxWait: 2000, now: () => performance.now() }

/** The lower bounds for sign-in: one claim names up to 1,000 Seats, each with up to 64 KiB of spaces. */
const SIGN_IN_READS = { ...READS, perTenant: 4, total: 16 }

/** All may be left out. */
interface SeatMemoryOptions {
  readonly lookups?: CacheLookups
  /** The clock by which blocks end, in monotonic ms. */
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
  readonly #restrictions: Restrictions
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
    this.#keys = new ReadThrough<StoredApiKey | null>({
      kind: 'api-key',
      received,
      load: loader(this.#credentialReads, (tenant, id) => source.apiKeyById(tenant, id), compileKey),
      ...this.#maps(keyBytes),
      lookups: lookups.api_key_records,
    })
    this.#sessions = new ReadThrough<SessionRecord | null>({
      kind: 'session',
      received,
      load: loader(this.#credentialReads, (tenant, id) => direct.readSession(tenant, id), compileSession),
      ...this.#maps(sessionBytes),
      lookups: lookups.sessions,
    })
    this.#restrictions = new Restrictions({
      now,
      wall,
      ofTenant: {
        kind: 'block',
        received,
        load: loader(
          this.#credentialReads,
          (tenant) => direct.restrictions(tenant),
          (reading) => tenantLimits(reading, now()),
        ),
        cache: this.#map(this.#budget, tenantLimitsBytes),
        lookups: lookups.blocks,
      },
      ofUser: {
        kind: 'block',
        received,
        load: loader(
          this.#credentialReads,
          (tenant, user) => direct.userRestriction(tenant, user),
          (reading) => userLimits(reading, now()),
        ),
        ...this.#maps(() => USER_LIMITS_BYTES),
        lookups: lookups.blocks,
      },
    })
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
    if (kind === 'revocation') return this.#forgetVoided(tenant, noticeOf(key), seq)
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
    this.#restrictions.clear()
  }

  /** Cached entries by kind, for metrics. */
  get sizes() {
    return {
      names: this.#names.size,
      seats: this.#seats.size,
      keys: this.#keys.size,
      sessions: this.#sessions.size,
      blocks: this.#restrictions.size,
    }
  }
}

/** The divisor of the bound that gives the share of missing keys and sessions. */
const MISSING_SHARE = 16

/** Reads in the tenant's turn, and compiles what the store returns. */
function loader<R, V, Q>(
  reads: FairReads,
  read: (tenant: string, id: string, question: Q) => Promise<AsOf<R>>,
  compiled: (row: R) => V,
): (tenant: string, id: string, question: Q) => Promise<AsOf<V>> {
  return (tenant, id, question) =>
    reads.run(tenant, async () => {
      const { value, ...asOf } = await read(tenant, id, question)
      return { ...asOf, value: compiled(value) }
    })
}
