/** The subjects of questions, as memory and store have them now: Seats, API keys, users known from their sign-in. */

import { isName, type Store } from '../../../seats-admin/index.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { isStorableSub, type User } from '../../../seats-admin/model/user.ts'
import type { BlockedUsers } from '../../decision/engine.ts'
import { resolve, type SeatLookup } from '../../decision/authorize.ts'
import type { ResolvedSeats, Trace } from '../../model/decision.ts'
import type { SeatClaims } from '../../model/principal.ts'
import { type Seat, SeatQuestion } from '../../model/decision-seat.ts'
import type { Entity } from './questions.ts'
import type { Denial } from './decision-reasons.ts'

/** What decisions know of Seats, API keys and blocks: the memory of the process, valid under its lease. */
export interface HolderMemory extends SeatLookup, BlockedUsers {
  apiKeyById(tenant: string, id: string, trace?: Trace): StoredApiKey | null | Promise<StoredApiKey | null>
}

/** One subject. Its methods reject when the store can't be asked. */
export interface Subject {
  /** Why it may do nothing at all; null: it exists, and is neither expired nor revoked nor blocked. */
  denial(): Promise<Denial | null>
  /** Its Seats, each in its current state, as far as the question needs them. */
  seats(question: SeatQuestion): Promise<ResolvedSeats>
}

export interface SubjectDeps {
  readonly memory: HolderMemory
  readonly store: Pick<Store, 'readUser'>
  /** ms since the epoch */
  readonly now: () => number
}

/** @returns null: there are no subjects of this type */
export function subjectOf({ type, id }: Entity, tenant: string, deps: SubjectDeps): Subject | null {
  if (type === 'seat') return new SeatSubject(tenant, id, deps.memory)
  if (type === 'api-key') return new KeySubject(tenant, id, deps)
  if (type === 'user') return new UserSubject(tenant, id, deps)
  return null
}

export const SUBJECT_TYPES = ['seat', 'api-key', 'user'] as const
export type SubjectType = (typeof SUBJECT_TYPES)[number]

/** Whether a Seat exists does not depend on space and permission. */
const EXISTENCE = new SeatQuestion('', '')
const NO_SEATS: ResolvedSeats = Object.freeze({ by: 'id', entries: Object.freeze([]) })

/** The holder of one Seat, which is given by its name or its id. */
class SeatSubject implements Subject {
  readonly #tenant: string
  readonly #id: string
  readonly #memory: HolderMemory

  constructor(tenant: string, id: string, memory: HolderMemory) {
    this.#tenant = tenant
    this.#id = id
    this.#memory = memory
  }

  async denial(): Promise<Denial | null> {
    const found = await this.#find(EXISTENCE)
    if (found.length > 1) return 'seat_ambiguous'
    return found.length === 0 ? 'seat_not_found' : null
  }

  async seats(question: SeatQuestion): Promise<ResolvedSeats> {
    const [seat, ...others] = await this.#find(question)
    // Changed since `denial`.
    if (seat === undefined || others.length > 0) return NO_SEATS
    return { by: 'id', entries: [{ name: seat.name, seat, nameGivenUp: false }] }
  }

  /** Two: the text is the name of one Seat and the id of another. */
  async #find(question: SeatQuestion): Promise<Seat[]> {
    const memory = this.#memory
    const named = isName(this.#id) ? (await memory.seatByName(this.#tenant, this.#id, question)).seat : null
    const byId = isUlid(this.#id) ? await memory.seatById(this.#tenant, this.#id, question) : null
    if (named === null) return byId === null ? [] : [byId]
    return byId === null || byId.id === named.id ? [named] : [named, byId]
  }
}

class KeySubject implements Subject {
  readonly #tenant: string
  readonly #id: string
  readonly #deps: SubjectDeps

  constructor(tenant: string, id: string, deps: SubjectDeps) {
    this.#tenant = tenant
    this.#id = id
    this.#deps = deps
  }

  /** As `ApiKeys` of authentication: expiry comes before revocation. */
  async denial(): Promise<Denial | null> {
    const key = await this.#read()
    if (key === null) return 'api_key_not_found'
    if (key.expiresAt !== null && !(this.#deps.now() < key.expiresAt)) return 'api_key_expired'
    return key.revokedAt === null ? null : 'api_key_revoked'
  }

  async seats(question: SeatQuestion): Promise<ResolvedSeats> {
    const { memory } = this.#deps
    const claims = { by: 'id', seats: (await this.#read())?.seatIds ?? [] } as const
    return seatsOf(memory, this.#tenant, claims, question)
  }

  async #read(): Promise<StoredApiKey | null> {
    return isUlid(this.#id) ? this.#deps.memory.apiKeyById(this.#tenant, this.#id) : null
  }
}

/** A user with the Seats of the last sign-in. */
class UserSubject implements Subject {
  readonly #tenant: string
  readonly #sub: string
  readonly #deps: SubjectDeps
  /** One reading serves all questions of a request. */
  #user: Promise<User | null> | null = null
  #readAt = 0

  constructor(tenant: string, sub: string, deps: SubjectDeps) {
    this.#tenant = tenant
    this.#sub = sub
    this.#deps = deps
  }

  async denial(): Promise<Denial | null> {
    if ((await this.#read()) === null) return 'user_not_found'
    const trace: Trace = { source: 'memory' }
    return (await this.#deps.memory.isBlocked(this.#tenant, this.#sub, trace)) ? 'caller_blocked' : null
  }

  async seats(question: SeatQuestion): Promise<ResolvedSeats> {
    const names = (await this.#read())?.seats ?? []
    // A name that was given up since the reading, and taken by another Seat, grants nothing.
    const claims = { by: 'any-space', names, issuedAt: Math.floor(this.#readAt / 1000) } as const
    return seatsOf(this.#deps.memory, this.#tenant, claims, question)
  }

  #read(): Promise<User | null> {
    if (this.#user === null) {
      this.#readAt = this.#deps.now()
      this.#user = isStorableSub(this.#sub)
        ? this.#deps.store.readUser(this.#tenant, this.#sub, EVERYTHING)
        : Promise.resolve(null)
    }
    return this.#user
  }
}

/** The reader has `access:evaluate` in the admin space: questions concern the whole tenant. It grants nothing. */
export const EVERYTHING = Object.freeze({ space: '', admin: true, all: false, permissions: [] })

async function seatsOf(
  memory: SeatLookup,
  tenant: string,
  claims: SeatClaims,
  question: SeatQuestion,
): Promise<ResolvedSeats> {
  const principal = {
    method: 'bearer',
    tenant,
    user: '',
    email: null,
    claims,
    session: null,
    validUntil: null,
  } as const
  return resolve(memory, principal, question, { source: 'memory' })
}
