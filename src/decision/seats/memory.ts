/**
 * The Seats, API keys and sign-in sessions in use, compiled, as the store last gave them. Asked by resolve and by
 * authentication; told by the lease what to forget. Costs what is in use, not what is stored.
 */

import type { NumberedChange } from '../../../seats-admin/model/change.ts'
import { performance } from 'node:perf_hooks'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import type { SessionRecord } from '../../../seats-admin/model/session.ts'
import type { Trace } from '../../model/decision.ts'
import type { NamedSeat, Seat, SeatQuestion } from '../../model/seat.ts'
import { FairReads } from './fair-reads.ts'
import { type AsOf, ReadThrough, type Remembered, WHOLE } from './read-through.ts'
import type { SeatLists } from './held-permissions.ts'
import { LruMap, MemoryBudget } from './lru-maps.ts'
import { entryBytes, keyBytes, seatBytes, sessionBytes } from './weight.ts'

/** What sign-in needs of a Seat. */
export interface SeatSpaces {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
}

/** A Seat as the store hands it out for a question. */
export interface SeatRow {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  /** Answers every question; else only the one that was asked. */
  readonly complete: boolean
}

/** What memory must forget; what it is reading of this counts only if it is as new as `seq`. */
export type SeatChange = Omit<NumberedChange, 'mark'>

/** What memory asks of the store. */
export interface SeatSource {
  grantByName(
    tenant: string,
    name: string,
    question: SeatQuestion,
  ): Promise<AsOf<{ readonly seat: SeatRow | null; readonly givenUpAt: number | null }>>
  grantById(tenant: string, id: string, question: SeatQuestion): Promise<AsOf<SeatRow | null>>
  spacesByName(tenant: string, name: string): Promise<AsOf<SeatSpaces | null>>
  seatById(tenant: string, id: string): Promise<AsOf<SeatLists | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<StoredApiKey | null>>
}

/** Sign-in sessions come from the store itself: one browser each, hardly worth a shared cache. */
export interface SessionSource {
  readSession(tenant: string, id: string): Promise<AsOf<SessionRecord | null>>
}

/** A tenant id has no NUL, so the first one parts the fields whatever the rest holds. */
const SEPARATOR = '\0'

/** Reads of the store under way, of one tenant and of all: SQLite answers 8 of the largest Seats in half a millisecond. */
const READS = { perTenant: 8, total: 64, waiting: 5000, patience: 2000, now: () => performance.now() }

/** For sign-in: fewer than for decisions, as one claim names up to 1,000 Seats, each with up to 64 KiB of spaces. */
const SIGN_IN_READS = { ...READS, perTenant: 4, total: 16 }

export class SeatMemory {
  readonly #room = new MemoryBudget(0)
  /** Of keys and sessions that are not there: anybody can invent them, and must not push out those that are. */
  readonly #unknown = new MemoryBudget(0)
  readonly #names: ReadThrough<NamedSeat, SeatQuestion>
  readonly #seats: ReadThrough<Seat | null, SeatQuestion>
  readonly #keys: ReadThrough<StoredApiKey | null>
  readonly #sessions: ReadThrough<SessionRecord | null>
  readonly #reads = new FairReads(READS)
  /** Apart, as anybody can ask for invented keys and sessions: that must not hold the Seats of callers up. */
  readonly #credentialReads = new FairReads(READS)
  /** Apart, as a sign-in may wait: the decisions of the same tenant do not wait for its claims. */
  readonly #signInReads = new FairReads(SIGN_IN_READS)
  readonly #source: SeatSource
  #generation = 0

  /** @param bytes of all that is remembered, together */
  constructor(source: SeatSource, sessions: SessionSource, bytes: number) {
    this.#source = source
    this.resize(bytes)
    this.#names = new ReadThrough<NamedSeat, SeatQuestion>({
      load: fairly(this.#reads, async (tenant, name, question) => {
        const { value, ...asOf } = await source.grantByName(tenant, name, question)
        return { ...asOf, value: { seat: compile(value.seat), givenUpAt: value.givenUpAt } }
      }),
      remembered: this.#map(this.#room, ({ seat }) => seatBytes(seat)),
      isWhole: ({ seat }) => seat === null || seat.complete,
    })
    this.#seats = new ReadThrough<Seat | null, SeatQuestion>({
      load: fairly(this.#reads, async (tenant, id, question) => {
        const { value, ...asOf } = await source.grantById(tenant, id, question)
        return { ...asOf, value: compile(value) }
      }),
      remembered: this.#map(this.#room, seatBytes),
      isWhole: (seat) => seat === null || seat.complete,
    })
    this.#keys = new ReadThrough<StoredApiKey | null>({
      load: fairly(this.#credentialReads, async (tenant, id) => {
        const { value, ...asOf } = await source.apiKeyById(tenant, id)
        return { ...asOf, value: value === null ? null : record(value) }
      }),
      ...this.#maps(keyBytes),
    })
    this.#sessions = new ReadThrough<SessionRecord | null>({
      load: fairly(this.#credentialReads, async (tenant, id) => {
        const { value, ...asOf } = await sessions.readSession(tenant, id)
        return { ...asOf, value: value === null ? null : session(value) }
      }),
      ...this.#maps(sessionBytes),
    })
  }

  #map<V>(room: MemoryBudget, bytesOf: (value: V) => number): LruMap<Remembered<V>> {
    return new LruMap(room, (key, { whole, parts }) => {
      let bytes = whole === undefined ? 0 : bytesOf(whole)
      for (const [question, value] of parts) bytes += entryBytes(question, bytesOf(value))
      return entryBytes(key, bytes)
    })
  }

  /** Where those are remembered that there are, and where those that there are not. */
  #maps<V>(bytesOf: (value: V) => number) {
    const bytes = (value: V | null) => (value === null ? 0 : bytesOf(value))
    return { remembered: this.#map(this.#room, bytes), unknown: this.#map(this.#unknown, bytes) }
  }

  /** Another bound of bytes from now on. */
  resize(bytes: number): void {
    const unknown = bytes / UNKNOWN
    this.#room.resize(bytes - unknown)
    this.#unknown.resize(unknown)
  }

  /** Bytes of all that is remembered, rather too many than too few. */
  get bytes(): number {
    return this.#room.bytes + this.#unknown.bytes
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
    return this.#names.get(tenant + SEPARATOR + name, question, trace)
  }

  seatById(
    tenant: string,
    id: string,
    question: SeatQuestion,
    trace?: Trace,
  ): Seat | null | Promise<Seat | null> {
    return this.#seats.get(tenant + SEPARATOR + id, question, trace)
  }

  /** From the store, whatever its size; not remembered. */
  async wholeSeat(tenant: string, id: string): Promise<SeatLists | null> {
    return (await this.#reads.run(tenant, () => this.#source.seatById(tenant, id))).value
  }

  /** For sign-in: from the store, without the permissions; not remembered. */
  async spacesByName(tenant: string, name: string): Promise<SeatSpaces | null> {
    return (await this.#signInReads.run(tenant, () => this.#source.spacesByName(tenant, name))).value
  }

  apiKeyById(tenant: string, id: string, trace?: Trace): StoredApiKey | null | Promise<StoredApiKey | null> {
    return this.#keys.get(tenant + SEPARATOR + id, WHOLE, trace)
  }

  sessionById(
    tenant: string,
    id: string,
    trace?: Trace,
  ): SessionRecord | null | Promise<SessionRecord | null> {
    return this.#sessions.get(tenant + SEPARATOR + id, WHOLE, trace)
  }

  /** Grows with each message of changes and with each reading of the feed, whether there is anything new in it or not. */
  get generation(): number {
    return this.#generation
  }

  announced(changes: readonly SeatChange[]): void {
    this.#generation++
    for (const change of changes) this.#forget(change)
  }

  take(changes: readonly SeatChange[] | null): void {
    this.#generation++
    if (changes === null) this.#forgetAll()
    else this.announced(changes)
  }

  #forget({ tenant, kind, key, seq }: SeatChange): void {
    const at = tenant + SEPARATOR + key
    if (kind === 'seat') this.#seats.forget(at, seq)
    else if (kind === 'seat-name') this.#names.forget(at, seq)
    else if (kind === 'api-key') this.#keys.forget(at, seq)
    else if (kind === 'session') this.#sessions.forget(at, seq)
    // A newer program wrote a kind this one doesn't know: what it touches is unknown too.
    else this.#forgetAll()
  }

  #forgetAll(): void {
    this.#names.forgetAll()
    this.#seats.forgetAll()
    this.#keys.forgetAll()
    this.#sessions.forgetAll()
  }

  /** Entries held, by kind, for metrics. */
  get sizes(): {
    readonly names: number
    readonly seats: number
    readonly keys: number
    readonly sessions: number
  } {
    return {
      names: this.#names.size,
      seats: this.#seats.size,
      keys: this.#keys.size,
      sessions: this.#sessions.size,
    }
  }
}

function fields(key: string): [tenant: string, rest: string] {
  const at = key.indexOf(SEPARATOR)
  return [key.slice(0, at), key.slice(at + 1)]
}

/** The part of all that keys and sessions may take that are not there. */
const UNKNOWN = 16

/** A load whose key is parted into its fields, in its tenant's turn. */
function fairly<V, Q>(
  reads: FairReads,
  load: (tenant: string, rest: string, question: Q) => Promise<AsOf<V>>,
): (key: string, question: Q) => Promise<AsOf<V>> {
  return (key, question) => {
    const [tenant, rest] = fields(key)
    return reads.run(tenant, () => load(tenant, rest, question))
  }
}

function compile(row: SeatRow | null): Seat | null {
  if (row === null) return null
  return Object.freeze({
    id: row.id,
    name: row.name,
    complete: row.complete,
    spaces: new Set(row.spaces),
    permissions: new Set(row.permissions),
  })
}

/** A hash as a driver gives it may be a piece of a block of 64 KiB, all of which it would keep. */
function own(hash: Uint8Array): Uint8Array {
  return Uint8Array.from(hash)
}

function session(row: SessionRecord): SessionRecord {
  const { cookieHash } = row
  return Object.freeze({ ...row, cookieHash: cookieHash === null ? null : own(cookieHash) })
}

function record(row: StoredApiKey): StoredApiKey {
  return Object.freeze({
    id: row.id,
    tenant: row.tenant,
    hash: own(row.hash),
    seatIds: row.seatIds,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
  })
}
