/**
 * The Seats, API keys and sign-in sessions in use, compiled, as the store last gave them. Asked by resolve and by authentication;
 * told by the lease what to forget. Costs what is in use, not what is stored.
 */

import type { ApiKeyRecord, NamedSeat, Seat, SessionRecord, Trace } from '../exchange.ts'
import { listBytes, MAP, SET_ENTRY, textBytes, textsBytes } from '../heap-size.ts'
import { type AsOf, ReadThrough } from './read-through.ts'
import { Recent, Room } from './recent.ts'

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
  readonly #room: Room
  readonly #names: ReadThrough<NamedSeat>
  readonly #seats: ReadThrough<Seat | null>
  readonly #keys: ReadThrough<ApiKeyRecord | null>
  readonly #sessions: ReadThrough<SessionRecord | null>

  /** @param bytes of all that is remembered, together */
  constructor(source: SeatSource, sessions: SessionSource, bytes: number) {
    this.#room = new Room(bytes)
    this.#names = this.#remember(
      async (key) => {
        const { value, ...asOf } = await source.seatByName(...fields(key))
        return { ...asOf, value: { seat: compile(value.seat), givenUpAt: value.givenUpAt } }
      },
      ({ seat }) => seatBytes(seat),
    )
    this.#seats = this.#remember(async (key) => {
      const { value, ...asOf } = await source.seatById(...fields(key))
      return { ...asOf, value: compile(value) }
    }, seatBytes)
    this.#keys = this.#remember(async (key) => {
      const { value, ...asOf } = await source.apiKeyById(...fields(key))
      return { ...asOf, value: value === null ? null : record(value) }
    }, keyBytes)
    this.#sessions = this.#remember((key) => sessions.readSession(...fields(key)), sessionBytes)
  }

  #remember<V>(load: (key: string) => Promise<AsOf<V>>, bytesOf: (value: V) => number): ReadThrough<V> {
    const weigh = (key: string, value: V) => ENTRY + textBytes(key) + bytesOf(value)
    return new ReadThrough(new Recent(this.#room, weigh), load)
  }

  /** Another bound of bytes from now on. */
  resize(bytes: number): void {
    this.#room.resize(bytes)
  }

  /** Bytes of all that is remembered, rather too many than too few. */
  get bytes(): number {
    return this.#room.bytes
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

  hear(changes: readonly SeatChange[]): void {
    for (const change of changes) this.#forget(change)
  }

  take(changes: readonly SeatChange[] | null): void {
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

/** Of the map, what it keeps, and the value with all that is no text or list. */
const ENTRY = 400

function seatBytes(seat: Seat | null): number {
  if (seat === null) return 0
  const { id, name, spaces, permissions } = seat
  const sets = 2 * MAP + SET_ENTRY * (spaces.size + permissions.size)
  return sets + textBytes(id) + textBytes(name) + textsBytes(spaces) + textsBytes(permissions)
}

function keyBytes(key: ApiKeyRecord | null): number {
  if (key === null) return 0
  return HASH + textBytes(key.id) + textBytes(key.tenant) + listBytes(key.seats)
}

function sessionBytes(session: SessionRecord | null): number {
  if (session === null) return 0
  const { id, tenant, user, email, hashPerm } = session
  return HASH + textsBytes([id, tenant, user, email ?? '']) + listBytes(hashPerm) + READ * hashPerm.length
}

/** 32 bytes as an array of its own. */
const HASH = 250

/** What authentication makes of an entry of a session and keeps beside it: a space, with a list of names of its own. */
const READ = 300

function compile(row: SeatRow | null): Seat | null {
  if (row === null) return null
  return Object.freeze({
    id: row.id,
    name: row.name,
    spaces: new Set(row.spaces),
    permissions: new Set(row.permissions),
  })
}

function record(row: ApiKeyRow): ApiKeyRecord {
  return Object.freeze({
    id: row.id,
    tenant: row.tenant,
    hash: row.hash,
    seats: row.seatIds,
    expiresAt: row.expiresAt,
    revokedAt: row.revokedAt,
  })
}
