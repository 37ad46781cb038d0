/**
 * The spaces in which a caller's Seats do hold a permission, for a caller whose Seats do not hold it in the
 * space that it asked for. They tell an operator, or the caller, that the `Space` header is wrong. The
 * decision does not depend on them.
 */

import {
  authorize,
  type HeldSeats,
  heldBy,
  resolvedById,
  resolvedByName,
  type SeatLookup,
} from '../authorize.ts'
import type { ResolvedSeat } from '../../model/decision.ts'
import type { Principal } from '../../model/principal.ts'
import { SeatQuestion } from '../../model/decision-seat.ts'

/** The most spaces that are named. */
const MOST_SPACES = 5
/** The most Seats that are looked up: a refused request must cost no more than an allowed one. */
const MOST_LOOKUPS = 16

/** Yields look-ups of Seats, and takes their results. */
type Search = Generator<ResolvedSeat | Promise<ResolvedSeat>, void, ResolvedSeat>

/**
 * The spaces. Synchronous if memory has the Seats. Seats too large for memory are left out. Never rejects.
 *
 * @param patience ms for reads of the store; the result has the spaces that are known by then
 */
export function grantedIn(
  seats: SeatLookup,
  principal: Principal,
  question: SeatQuestion,
  patience: number,
): readonly string[] | Promise<readonly string[]> {
  const spaces = new Set<string>()
  const held = heldBy(seats, principal, question.space)
  if (held instanceof Promise) {
    const rest = async () => finish(searchSpaces(seats, principal, await held, question, spaces))
    return foundWithin(patience, rest(), spaces)
  }
  const search = searchSpaces(seats, principal, held, question, spaces)
  for (let step = search.next(); step.done !== true; step = search.next(step.value))
    if (step.value instanceof Promise) return foundWithin(patience, finish(search, step.value), spaces)
  return [...spaces]
}

/** @param first the first Seat that memory does not have; left out: the search has not begun */
async function finish(search: Search, first?: Promise<ResolvedSeat>): Promise<void> {
  let step = first === undefined ? search.next() : search.next(await first)
  while (step.done !== true) step = search.next(await step.value)
}

async function foundWithin(
  patience: number,
  work: Promise<void>,
  spaces: ReadonlySet<string>,
): Promise<readonly string[]> {
  await settledWithin(
    patience,
    // The store can't be asked: the refusal stands without a hint.
    work.catch(() => {}),
  )
  return [...spaces]
}

/** @param spaces takes the spaces in which a Seat grants the permission */
function* searchSpaces(
  seats: SeatLookup,
  { tenant, claims }: Principal,
  { by, named, issuedAt, grants }: HeldSeats,
  question: SeatQuestion,
  spaces: Set<string>,
): Search {
  const { permission } = question
  const isOfSpace = by === 'name'
  const inSpaces = claims.by === 'name' ? claims.entries : ([[question.space, named]] as const)
  let left = MOST_LOOKUPS
  for (const [space, names] of inSpaces) {
    const ofSpace = new SeatQuestion(space, permission)
    for (const name of names) {
      if (left-- === 0 || spaces.size === MOST_SPACES) return
      const entry = yield by === 'id'
        ? resolvedById(name, seats.seatById(tenant, name, ofSpace))
        : resolvedByName(name, issuedAt, seats.seatByName(tenant, name, ofSpace))
      // A token names the space. The Seats of other credentials count in all of their spaces, with the same
      // permissions.
      addSpaces(spaces, entry, permission, isOfSpace ? [space] : (entry.seat?.spaces ?? []))
      if (isOfSpace && spaces.has(space)) break
    }
  }
  for (const { seat: id } of grants?.grants ?? []) {
    if (left-- === 0 || spaces.size === MOST_SPACES) return
    const entry = yield resolvedById(id, seats.seatById(tenant, id, question))
    addSpaces(spaces, entry, permission, entry.seat?.spaces ?? [])
  }
}

/** @param of those in which the Seat counts */
function addSpaces(spaces: Set<string>, entry: ResolvedSeat, permission: string, of: Iterable<string>): void {
  for (const space of of) {
    if (spaces.size === MOST_SPACES || !isGranted(entry, space, permission)) return
    spaces.add(space)
  }
}

function isGranted(entry: ResolvedSeat, space: string, permission: string): boolean {
  return authorize({ by: 'id', entries: [entry] }, space, permission).code === 'allow'
}

async function settledWithin(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const waited = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([work, waited])
  clearTimeout(timer)
}
