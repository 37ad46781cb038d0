/**
 * The Seats, API keys and sign-in sessions in use, compiled, as the store last gave them. Asked by resolve and by
 * authentication; told by the lease what to forget. Costs what is in use, not what is stored.
 */

import type { ApiKeyRecord, NamedSeat, Seat, SessionRecord, Trace } from '../exchange.ts'
import { type AsOf, ReadThrough } from './read-through.ts'
import { Recent, Room } from './recent.ts'
import { entryBytes, keyBytes, seatBytes, sessionBytes } from './weight.ts'

/** A Seat as the store hands it out. */
export interface SeatRow {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
}

export interface ApiKeyRow {
  readonly id: string
  readonly tenant: string
  readonly hash: Uint8Array
  readonly seatIds: readonly string[]
  readonly expiresAt: number | null
  readonly revokedAt: number | null
}

/** What memory must forget; what it is reading of this counts only if it is as new as `seq`. */
export interface SeatChange {
  readonly seq: number
  readonly tenant: string
  readonly kind: 'seat' | 'seat-name' | 'api-key' | 'session'
  readonly key: string
}

/** What memory asks of the store. */
export interface SeatSource {
  seatByName(
    tenant: string,
    name: string,
  ): Promise<AsOf<{ readonly seat: SeatRow | null; readonly givenUpAt: number | null }>>
  seatById(tenant: string, id: string): Promise<AsOf<SeatRow | null>>
  apiKeyById(tenant: string, id: string): Promise<AsOf<ApiKeyRow | null>>
}

/** Sign-in sessions come from the store itself: one browser each, hardly worth a shared cache. */
export interface SessionSource {
  readSession(tenant: string, id: string): Promise<AsOf<SessionRecord | null>>
}

/** A tenant id has no NUL, so the first one parts the fields whatever the rest holds. */
const SEPARATOR = '\0'

export class SeatMemory {
  readonly #room = new Room(0)
  /** Of keys and sessions that are not there: anybody can invent them, and must not push out those that are. */
  readonly #unknown = new Room(0)
  readonly #names: ReadThrough<NamedSeat>
  readonly #seats: ReadThrough<Seat | null>
  readonly #keys: ReadThrough<ApiKeyRecord | null>
  readonly #sessions: ReadThrough<SessionRecord | null>
  #edition = 0

  /** @param bytes of all that is remembered, together */
  constructor(source: SeatSource, sessions: SessionSource, bytes: number) {
    this.resize(bytes)
    const names = new Recent(this.#room, (key, { seat }: NamedSeat) => entryBytes(key, seatBytes(seat)))
    this.#names = new ReadThrough(names, async (key) => {
      const { value, ...asOf } = await source.seatByName(...fields(key))
      return { ...asOf, value: { seat: compile(value.seat), givenUpAt: value.givenUpAt } }
    })
    const seats = new Recent(this.#room, (key, seat: Seat | null) => entryBytes(key, seatBytes(seat)))
    this.#seats = new ReadThrough(seats, async (key) => {
      const { value, ...asOf } = await source.seatById(...fields(key))
      return { ...asOf, value: compile(value) }
    })
    const [keys, unknownKeys] = this.#maps(keyBytes)
    const readKey = async (key: string) => {
      const { value, ...asOf } = await source.apiKeyById(...fields(key))
      return { ...asOf, value: value === null ? null : record(value) }
    }
    this.#keys = new ReadThrough(keys, readKey, unknownKeys)
    const [known, unknownSessions] = this.#maps(sessionBytes)
    const readSession = async (key: string) => {
      const { value, ...asOf } = await sessions.readSession(...fields(key))
      return { ...asOf, value: value === null ? null : session(value) }
    }
    this.#sessions = new ReadThrough(known, readSession, unknownSessions)
  }

  /** Where those are remembered that there are, and where those that there are not. */
  #maps<V>(bytesOf: (value: V) => number): [known: Recent<V | null>, unknown: Recent<V | null>] {
    const bytes = (key: string, value: V | null) => entryBytes(key, value === null ? 0 : bytesOf(value))
    return [new Recent(this.#room, bytes), new Recent(this.#unknown, bytes)]
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

  seatByName(tenant: string, name: string, trace?: Trace): NamedSeat | Promise<NamedSeat> {
    return this.#names.get(tenant + SEPARATOR + name, trace)
  }

  seatById(tenant: string, id: string, trace?: Trace): Seat | null | Promise<Seat | null> {
    return this.#seats.get(tenant + SEPARATOR + id, trace)
  }

  apiKeyById(tenant: string, id: string, trace?: Trace): ApiKeyRecord | null | Promise<ApiKeyRecord | null> {
    return this.#keys.get(tenant + SEPARATOR + id, trace)
  }

  sessionById(
    tenant: string,
    id: string,
    trace?: Trace,
  ): SessionRecord | null | Promise<SessionRecord | null> {
    return this.#sessions.get(tenant + SEPARATOR + id, trace)
  }

  /** Grows with each message of changes and with each reading of the feed, whether there is anything new in it or not. */
  get edition(): number {
    return this.#edition
  }

  hear(changes: readonly SeatChange[]): void {
    this.#edition++
    for (const change of changes) this.#forget(change)
  }

  take(changes: readonly SeatChange[] | null): void {
    this.#edition++
    if (changes === null) this.#forgetAll()
    else this.hear(changes)
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

function compile(row: SeatRow | null): Seat | null {
  if (row === null) return null
  return Object.freeze({
    id: row.id,
    name: row.name,
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

function record(row: ApiKeyRow): ApiKeyRecord {
  return Object.freeze({
    id: row.id,
    tenant: row.tenant,
    hash: own(row.hash),
    seats: row.seatIds,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
  })
}
