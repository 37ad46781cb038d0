/**
 * Authorization by Seats, in two steps: {@link resolve} looks up the Seats that a credential names for a
 * space, each in its current state, and {@link authorize} decides by them. The second step is pure and
 * synchronous, and the only place that allows a request by a permission.
 */

import { EVERY_PERMISSION, holds } from '../../seats-admin/model/permission.ts'
import type { ConsideredSeat, ResolvedSeat, ResolvedSeats, SeatVerdict, Trace } from '../model/decision.ts'
import type { NamedSeat, Seat, SeatQuestion } from '../model/decision-seat.ts'
import type { Principal } from '../model/principal.ts'
import type { SeatMemory } from './seats/memory.ts'

/** Lookups in memory: synchronous on a hit, a promise while the store is asked. */
export type SeatLookup = Pick<SeatMemory, 'seatByName' | 'seatById'>

/** The most concurrent reads of the store for one credential. */
const CONCURRENCY = 8

/**
 * The Seats that the credential names for the space. Synchronous if memory holds all of them. Rejects if the
 * store can't be asked.
 */
export function resolve(
  seats: SeatLookup,
  principal: Principal,
  question: SeatQuestion,
  trace: Trace,
): ResolvedSeats | Promise<ResolvedSeats> {
  const { claims, tenant } = principal
  if (claims.by === 'id') {
    const lookUp = (id: string) => resolvedById(id, seats.seatById(tenant, id, question, trace))
    return resolveAll('id', claims.seats, question, lookUp)
  }
  const names = claims.by === 'name' ? claims.entries.get(question.space) : claims.names
  if (names === undefined) return NO_ENTRY
  const { issuedAt } = claims
  const lookUp = (name: string) =>
    resolvedByName(name, issuedAt, seats.seatByName(tenant, name, question, trace))
  return resolveAll(claims.by, names, question, lookUp)
}

/** The Seats that a credential names for a space. */
export function countSeats({ claims }: Principal, space: string): number {
  if (claims.by === 'id') return claims.seats.length
  return (claims.by === 'name' ? claims.entries.get(space) : claims.names)?.length ?? 0
}

const NO_ENTRY: ResolvedSeats = Object.freeze({ by: 'name', entries: Object.freeze([]) })

type Lookup = (nameOrId: string) => ResolvedSeat | Promise<ResolvedSeat>

function resolveAll(
  by: ResolvedSeats['by'],
  named: readonly string[],
  question: SeatQuestion,
  lookUp: Lookup,
): ResolvedSeats | Promise<ResolvedSeats> {
  const entries: ResolvedSeat[] = []
  for (const each of named) {
    const entry = lookUp(each)
    if (entry instanceof Promise) return resolveRest(by, named, question, lookUp, entries, entry)
    entries.push(entry)
  }
  return { by, entries }
}

/** @param first the first entry that memory does not hold */
async function resolveRest(
  by: ResolvedSeats['by'],
  named: readonly string[],
  question: SeatQuestion,
  lookUp: Lookup,
  entries: ResolvedSeat[],
  first: Promise<ResolvedSeat>,
): Promise<ResolvedSeats> {
  const filter = filterOf(question)
  let started: (ResolvedSeat | Promise<ResolvedSeat>)[] = [first]
  for (;;) {
    const next = entries.length + started.length
    for (const each of named.slice(next, entries.length + CONCURRENCY)) started.push(lookUp(each))
    for (const entry of await Promise.all(started)) entries.push(filter(entry))
    if (entries.length === named.length) return { by, entries }
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
 * the permission. An API key and a provider's own token name Seats without a space: their entries are the
 * Seats that list the space.
 */
export function authorize(resolved: ResolvedSeats, space: string, permission: string): Authorization {
  const seats: ConsideredSeat[] = []
  let granted = false
  let entries = resolved.by === 'name' ? resolved.entries.length : 0
  for (const entry of resolved.entries) {
    const verdict = entry.nameGivenUp ? 'name_given_up' : verdictOf(entry.seat, space, permission)
    if (verdict === 'grants') granted = true
    if (resolved.by !== 'name' && (verdict === 'grants' || verdict === 'lacks_permission')) entries++
    seats.push({ name: entry.name, id: entry.seat?.id ?? null, verdict })
  }
  if (granted) return { code: 'allow', seats }
  return { code: entries === 0 ? 'no_seat_in_space' : 'permission_denied', seats }
}

function verdictOf(seat: Seat | null, space: string, permission: string): SeatVerdict {
  if (seat === null) return 'unknown'
  if (!seat.spaces.has(space)) return 'not_in_space'
  return holds(seat.permissions, permission) ? 'grants' : 'lacks_permission'
}
