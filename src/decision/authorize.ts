/**
 * Authorization by Seats, in three steps: {@link heldBy} says which Seats the caller holds, {@link resolve}
 * looks them up for a space, each in its current state, and {@link authorize} decides by them. The last step
 * is pure and synchronous, and the only place that allows a request by a permission.
 */

import type { GrantTerm } from '../../seats-admin/model/grant.ts'
import { EVERY_PERMISSION, holds } from '../../seats-admin/model/permission.ts'
import type { ConsideredSeat, ResolvedSeat, ResolvedSeats, SeatVerdict, Trace } from '../model/decision.ts'
import type { NamedSeat, Seat, SeatQuestion } from '../model/decision-seat.ts'
import { DEACTIVATED, type Groups } from '../model/membership.ts'
import type { Principal, SeatClaims } from '../model/principal.ts'
import type { GrantsInForce } from './seats/grants.ts'
import type { SeatMemory } from './seats/memory.ts'

/** Lookups in memory: synchronous on a hit, a promise while the store is asked. */
export type SeatLookup = Pick<SeatMemory, 'seatByName' | 'seatById' | 'groupsOf' | 'grantsOf'>

/** The most concurrent reads of the store for one credential. */
const CONCURRENCY = 8

/** The Seats that a caller holds in a space, as far as that is known without the Seats themselves. */
export interface HeldSeats {
  readonly by: SeatClaims['by']
  /** Ids with `by: 'id'`, else names. */
  readonly named: readonly string[]
  /** As of `SeatClaims`; of groups Infinity, as a group gives the Seat that has its name now. */
  readonly issuedAt: number
  /** The grants of the caller; null: there are none, not even later. */
  readonly grants: GrantsInForce | null
}

const NOTHING_NAMED: readonly string[] = Object.freeze([])

/**
 * The Seats that the caller holds. Synchronous if memory has groups and grants. Rejects if the store can't be
 * asked.
 */
export function heldBy(
  seats: SeatLookup,
  principal: Principal,
  space: string,
  trace?: Trace,
): HeldSeats | Promise<HeldSeats> {
  const { claims } = principal
  // Both reads begin before one is awaited.
  const grants = seats.grantsOf(principal, trace)
  const groups = groupsOf(seats, principal, trace)
  if (grants instanceof Promise || groups instanceof Promise)
    return Promise.all([grants, groups]).then(([some, names]) => held(claims, space, names, some))
  return held(claims, space, groups, grants)
}

/**
 * The groups of the caller, as of {@link SeatMemory.groupsOf}; null: groups give the caller nothing.
 * Synchronous if memory has them. Rejects if the store can't be asked.
 */
export function groupsOf(
  seats: Pick<SeatLookup, 'groupsOf'>,
  { tenant, claims }: Pick<Principal, 'tenant' | 'claims'>,
  trace?: Trace,
): Groups | null | Promise<Groups | null> {
  const member = claims.by === 'membership' ? claims.member : null
  return member === null ? null : seats.groupsOf(tenant, member, trace)
}

function held(
  claims: SeatClaims,
  space: string,
  groups: Groups | null,
  grants: GrantsInForce | null,
): HeldSeats {
  const { by } = claims
  if (by === 'id') return { by, named: claims.seats, issuedAt: Infinity, grants }
  if (by === 'membership') {
    const named = groups ?? NOTHING_NAMED
    return { by, named, issuedAt: Infinity, grants: named === DEACTIVATED ? null : grants }
  }
  const named = by === 'name' ? (claims.entries.get(space) ?? NOTHING_NAMED) : claims.names
  return { by, named, issuedAt: claims.issuedAt, grants }
}

/** Whether the identity provider has deactivated the caller, who then has no Seat, not even by a grant. */
export function isDeactivated({ named }: HeldSeats): boolean {
  return named === DEACTIVATED
}

/** The number of Seats to look up. */
export function countSeats({ named, grants }: HeldSeats): number {
  return named.length + (grants === null ? 0 : grants.grants.length)
}

/** Looks up the Seats that the caller holds for the question. As {@link heldBy} and {@link resolveHeld}. */
export function resolve(
  seats: SeatLookup,
  principal: Principal,
  question: SeatQuestion,
  trace: Trace,
): ResolvedSeats | Promise<ResolvedSeats> {
  const held = heldBy(seats, principal, question.space, trace)
  if (held instanceof Promise)
    return held.then((late) => resolveHeld(seats, principal.tenant, late, question, trace))
  return resolveHeld(seats, principal.tenant, held, question, trace)
}

/**
 * Looks up the Seats that a caller holds. Synchronous if memory has all of them. Rejects if the store can't
 * be asked.
 */
export function resolveHeld(
  seats: SeatLookup,
  tenant: string,
  { by, named, issuedAt, grants }: HeldSeats,
  question: SeatQuestion,
  trace: Trace,
): ResolvedSeats | Promise<ResolvedSeats> {
  const byId = (id: string) => resolvedById(id, seats.seatById(tenant, id, question, trace))
  const byName = (name: string) =>
    resolvedByName(name, issuedAt, seats.seatByName(tenant, name, question, trace))
  const entries = resolveAll(named, question, by === 'id' ? byId : byName)
  if (grants === null || grants.grants.length === 0)
    return entries instanceof Promise ? entries.then((late) => ({ by, entries: late })) : { by, entries }
  const granted = resolveAll(
    grants.grants.map(({ seat }) => seat),
    question,
    byId,
  )
  const all = (some: readonly ResolvedSeat[], others: readonly ResolvedSeat[]): ResolvedSeats => ({
    by,
    entries: [...some, ...besides(some, others, grants.grants)],
  })
  if (entries instanceof Promise || granted instanceof Promise)
    return Promise.all([entries, granted]).then(([some, others]) => all(some, others))
  return all(entries, granted)
}

/** The Seats of grants that the caller does not hold anyway. */
function besides(
  some: readonly ResolvedSeat[],
  granted: readonly ResolvedSeat[],
  grants: readonly GrantTerm[],
): ResolvedSeat[] {
  const ids = new Set(some.map(({ seat, nameGivenUp }) => (nameGivenUp ? null : seat?.id)))
  return granted.flatMap((entry, at) => {
    const [id, grant] = [entry.seat?.id, grants[at]]
    return id === undefined || grant === undefined || ids.has(id) ? [] : [{ ...entry, grant }]
  })
}

type Lookup = (nameOrId: string) => ResolvedSeat | Promise<ResolvedSeat>

function resolveAll(
  named: readonly string[],
  question: SeatQuestion,
  lookUp: Lookup,
): ResolvedSeat[] | Promise<ResolvedSeat[]> {
  const entries: ResolvedSeat[] = []
  for (const each of named) {
    const entry = lookUp(each)
    if (entry instanceof Promise) return resolveRest(named, question, lookUp, entries, entry)
    entries.push(entry)
  }
  return entries
}

/** @param first the first entry that memory does not hold */
async function resolveRest(
  named: readonly string[],
  question: SeatQuestion,
  lookUp: Lookup,
  entries: ResolvedSeat[],
  first: Promise<ResolvedSeat>,
): Promise<ResolvedSeat[]> {
  const filter = filterOf(question)
  let started: (ResolvedSeat | Promise<ResolvedSeat>)[] = [first]
  for (;;) {
    const next = entries.length + started.length
    for (const each of named.slice(next, entries.length + CONCURRENCY)) started.push(lookUp(each))
    for (const entry of await Promise.all(started)) entries.push(filter(entry))
    if (entries.length === named.length) return entries
    started = []
  }
}

/**
 * Reduces Seats to the answer to one question. Memory may evict a Seat at any time; a request that waits for
 * hundreds of Seats would retain all of them.
 */
function filterOf({ space, permission }: SeatQuestion): (entry: ResolvedSeat) => ResolvedSeat {
  const onlySpace = new Set([space])
  const onlyPermission = new Set([permission])
  return (entry) => {
    const { seat } = entry
    if (seat === null) return entry
    const spaces = seat.spaces.has(space) ? onlySpace : NOTHING
    const all = seat.permissions.has(EVERY_PERMISSION) ? ALL : onlyPermission
    const permissions = holds(seat.permissions, permission) ? all : NOTHING
    return { ...entry, seat: { id: seat.id, name: seat.name, complete: false, spaces, permissions } }
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const ALL: ReadonlySet<string> = new Set([EVERY_PERMISSION])

export function resolvedById(
  id: string,
  seat: Seat | null | Promise<Seat | null>,
): ResolvedSeat | Promise<ResolvedSeat> {
  if (seat instanceof Promise) return seat.then((late) => resolvedById(id, late))
  return { name: seat?.name ?? id, seat, nameGivenUp: false }
}

export function resolvedByName(
  name: string,
  issuedAt: number,
  meaning: NamedSeat | Promise<NamedSeat>,
): ResolvedSeat | Promise<ResolvedSeat> {
  if (meaning instanceof Promise) return meaning.then((late) => resolvedByName(name, issuedAt, late))
  const { seat, givenUpAt } = meaning
  // Whole seconds on both sides: a token issued in the same second can't prove that it is newer.
  return { name, seat, nameGivenUp: givenUpAt !== null && issuedAt <= givenUpAt }
}

export interface Authorization {
  readonly code: 'allow' | 'no_seat_in_space' | 'permission_denied'
  readonly seats: readonly ConsideredSeat[]
}

/**
 * Allows when one Seat that the credential names for the space still lists the space and holds the permission
 * or `*`.
 *
 * A token names Seats by space, so a missing entry (`no_seat_in_space`) differs from entries that do not hold
 * the permission. An API key, a provider's own token, groups and grants name Seats without a space: their
 * entries are the Seats that list the space.
 */
export function authorize(resolved: ResolvedSeats, space: string, permission: string): Authorization {
  const seats: ConsideredSeat[] = []
  const isOfSpace = resolved.by === 'name'
  let granted = false
  let entries = 0
  for (const entry of resolved.entries) {
    const { name, seat, grant } = entry
    const verdict = entry.nameGivenUp ? 'name_given_up' : verdictOf(seat, space, permission)
    if (grant !== undefined && verdict === 'not_in_space') continue
    if (verdict === 'grants') granted = true
    if (isOfSpace || verdict === 'grants' || verdict === 'lacks_permission') entries++
    const id = seat?.id ?? null
    seats.push(grant === undefined ? { name, id, verdict } : { name, id, verdict, grant })
  }
  if (granted) return { code: 'allow', seats }
  return { code: entries === 0 ? 'no_seat_in_space' : 'permission_denied', seats }
}

function verdictOf(seat: Seat | null, space: string, permission: string): SeatVerdict {
  if (seat === null) return 'unknown'
  if (!seat.spaces.has(space)) return 'not_in_space'
  return holds(seat.permissions, permission) ? 'grants' : 'lacks_permission'
}
