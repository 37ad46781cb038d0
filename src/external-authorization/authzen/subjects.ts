/**
 * The subjects of questions, as memory and store have them now: Seats, API keys, and users who have signed
 * in.
 */

import { isName, type Store } from '../../../seats-admin/index.ts'
import type { StoredApiKey } from '../../../seats-admin/model/api-key.ts'
import { isUlid } from '../../../seats-admin/model/ulid.ts'
import { isStorableSub, type User } from '../../../seats-admin/model/user.ts'
import { resolve, type SeatLookup } from '../../decision/authorize.ts'
import type { ResolvedSeats, Trace } from '../../model/decision.ts'
import { isIssuerUser } from '../../model/issuer-user.ts'
import { membershipClaims, type SeatsSource } from '../../model/membership.ts'
import type { SeatClaims } from '../../model/principal.ts'
import { type Seat, SeatQuestion } from '../../model/decision-seat.ts'
import type { Entity } from './authzen-requests.ts'
import type { Denial } from './decision-reasons.ts'
import type { ReceivedChanges } from '../../decision/seats/received-changes.ts'
import type { RestrictionLookup } from '../../decision/seats/restrictions.ts'

/** Seats, API keys and restrictions in the memory of the process, valid under its lease. */
export interface HolderMemory extends SeatLookup, RestrictionLookup {
  readonly received: ReceivedChanges
  apiKeyById(tenant: string, id: string, trace: Trace): StoredApiKey | null | Promise<StoredApiKey | null>
}

/** One subject. Its methods reject when the store can't be read. */
export interface Subject {
  /** Why it may do nothing at all; null if it exists, and is neither expired nor revoked nor blocked. */
  denial(trace: Trace): Promise<Denial | null>
  /** The Seats of the subject, each in its current state, as far as the question needs them. */
  seats(question: SeatQuestion, trace: Trace): Promise<ResolvedSeats>
}

export interface SubjectDeps {
  readonly memory: HolderMemory
  readonly store: Pick<Store, 'readUser'>
  /** What gives the users of each tenant their Seats. */
  readonly tenants: ReadonlyMap<string, SeatsSource>
  /** The time in ms since the epoch. */
  readonly now: () => number
}

/** @returns null if there are no subjects of this type */
export function subjectOf({ type, id }: Entity, tenant: string, deps: SubjectDeps): Subject | null {
  if (type === 'seat') return seatSubject(tenant, id, deps)
  if (type === 'api-key') return keySubject(tenant, id, deps)
  if (type === 'user') return userSubject(tenant, id, deps)
  return null
}

export const SUBJECT_TYPES = ['seat', 'api-key', 'user'] as const
export type SubjectType = (typeof SUBJECT_TYPES)[number]

/** Whether a Seat exists does not depend on space and permission. */
const EXISTENCE = new SeatQuestion('', '')
const NO_SEATS: ResolvedSeats = Object.freeze({ by: 'id', entries: Object.freeze([]) })

/** The holder of one Seat, which the question names by its name or its id. */
function seatSubject(tenant: string, id: string, { memory }: SubjectDeps): Subject {
  /** The Seats with this name or id: two if the text is the name of one Seat and the id of another. */
  const find = async (question: SeatQuestion, trace: Trace): Promise<Seat[]> => {
    const named = isName(id) ? (await memory.seatByName(tenant, id, question, trace)).seat : null
    const byId = isUlid(id) ? await memory.seatById(tenant, id, question, trace) : null
    if (named === null) return byId === null ? [] : [byId]
    return byId === null || byId.id === named.id ? [named] : [named, byId]
  }
  return {
    async denial(trace) {
      const seats = await find(EXISTENCE, trace)
      if (seats.length > 1) return 'seat_ambiguous'
      return seats.length === 0 ? 'seat_not_found' : null
    },
    async seats(question, trace) {
      const [seat, ...others] = await find(question, trace)
      // Changed since `denial`.
      if (seat === undefined || others.length > 0) return NO_SEATS
      return { by: 'id', entries: [{ name: seat.name, seat, nameGivenUp: false }] }
    },
  }
}

function keySubject(tenant: string, id: string, { memory, now }: SubjectDeps): Subject {
  const read = async (trace: Trace) => (isUlid(id) ? memory.apiKeyById(tenant, id, trace) : null)
  return {
    /** Expiry comes before revocation, as in `ApiKeys`. */
    async denial(trace) {
      const key = await read(trace)
      if (key === null) return 'api_key_not_found'
      if (key.expiresAt !== null && !(now() < key.expiresAt)) return 'api_key_expired'
      if (key.revokedAt !== null) return 'api_key_revoked'
      return (await memory.restriction(holderOf(tenant, key.owner), trace)) === null ? null : 'caller_blocked'
    },
    async seats(question, trace) {
      const claims = { by: 'id', seats: (await read(trace))?.seatIds ?? [] } as const
      return seatsOf(memory, tenant, null, claims, question, trace)
    },
  }
}

/**
 * A user with the Seats of the last sign-in, or of the user's groups, and those of grants. If a claim says
 * who users are in SCIM, the last sign-in has recorded it.
 */
function userSubject(tenant: string, sub: string, { memory, store, tenants, now }: SubjectDeps): Subject {
  const source = isIssuerUser(sub) ? {} : (tenants.get(tenant) ?? {})
  /** One reading serves all questions of a request. */
  let user: Promise<User | null> | null = null
  let readAt = 0
  /** Whether the question has waited since the reading. */
  let hasWaited = false
  const read = () => {
    if (user === null) {
      readAt = now()
      user = isStorableSub(sub) ? store.readUser(tenant, sub, EVERYTHING) : Promise.resolve(null)
    }
    return user
  }
  return {
    async denial(trace) {
      if ((await read()) === null) return 'user_not_found'
      const restriction = memory.restriction(holderOf(tenant, sub), trace)
      hasWaited = restriction instanceof Promise
      return (await restriction) === null ? null : 'caller_blocked'
    },
    async seats(question, trace) {
      const byGroups = membershipClaims(source, sub, (await read())?.member)
      if (byGroups !== null) return seatsOf(memory, tenant, sub, byGroups, question, trace)
      const names = (await read())?.seats ?? []
      // A Seat that has taken the name of another one since the reading grants nothing.
      const claims = { by: 'any-space', names, issuedAt: Math.floor(readAt / 1000) } as const
      const seats = seatsOf(memory, tenant, sub, claims, question, trace)
      if (!hasWaited && !(seats instanceof Promise)) return seats
      const resolved = await seats
      // A sign-in since the reading is no change of the feed.
      user = null
      if ((await read())?.seats.join('\0') !== names.join('\0')) trace.outdated()
      return resolved
    },
  }
}

/**
 * The reader has `access:evaluate` in the admin space: questions concern the whole tenant. It grants nothing.
 */
export const EVERYTHING = Object.freeze({ space: '', admin: true, all: false, permissions: [] })

/** @param owner the user whose grants count; null: none do */
function seatsOf(
  memory: SeatLookup,
  tenant: string,
  owner: string | null,
  claims: SeatClaims,
  question: SeatQuestion,
  trace: Trace,
): ResolvedSeats | Promise<ResolvedSeats> {
  const principal = {
    ...{ ...holderOf(tenant, owner), user: '', email: null },
    ...{ claims, session: null, validUntil: null },
  }
  return resolve(memory, principal, question, trace)
}

/** A caller with a credential that no revocation has voided. */
function holderOf(tenant: string, owner: string | null) {
  return { method: 'bearer', tenant, owner, issuedAt: Infinity } as const
}
