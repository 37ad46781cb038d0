/**
 * The spaces in which a caller's Seats do hold a permission, for a caller whose Seats do not hold it in the
 * space that it asked for. They tell an operator, or the caller, that the `Space` header is wrong. The
 * decision does not depend on them.
 */

import { authorize, resolvedById, resolvedByName, type SeatLookup } from '../authorize.ts'
import type { ResolvedSeat } from '../../model/decision.ts'
import type { Principal, SeatClaims } from '../../model/principal.ts'
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
  const search = searchSpaces(seats, principal, question, spaces)
  for (let step = search.next(); step.done !== true; step = search.next(step.value))
    if (step.value instanceof Promise) return finished(search, step.value, spaces, patience)
  return [...spaces]
}

/** @param first the first Seat that memory does not have */
async function finished(
  search: Search,
  first: Promise<ResolvedSeat>,
  spaces: ReadonlySet<string>,
  patience: number,
): Promise<readonly string[]> {
  const rest = async () => {
    for (let step = search.next(await first); step.done !== true;) step = search.next(await step.value)
  }
  await settledWithin(
    patience,
    // The store can't be asked: the refusal stands without a hint.
    rest().catch(() => {}),
  )
  return [...spaces]
}

/** @param spaces takes the spaces in which a Seat grants the permission */
function* searchSpaces(
  seats: SeatLookup,
  { tenant, claims }: Principal,
  { space: requestSpace, permission }: SeatQuestion,
  spaces: Set<string>,
): Search {
  let left = MOST_LOOKUPS
  for (const [space, names] of namesBySpace(claims, requestSpace)) {
    const question = new SeatQuestion(space, permission)
    for (const name of names) {
      if (left-- === 0 || spaces.size === MOST_SPACES) return
      const entry = yield claims.by === 'id'
        ? resolvedById(name, seats.seatById(tenant, name, question))
        : resolvedByName(name, claims.issuedAt, seats.seatByName(tenant, name, question))
      // A token names the space. The Seats of other credentials count in all of their spaces, with the same
      // permissions.
      for (const each of claims.by === 'name' ? [space] : (entry.seat?.spaces ?? [])) {
        if (spaces.size === MOST_SPACES || !isGranted(entry, each, permission)) break
        spaces.add(each)
      }
      if (claims.by === 'name' && spaces.has(space)) break
    }
  }
}

/**
 * @param requestSpace the space of Seats without one: those of an API key, and the names in a provider's own
 *   token
 */
function namesBySpace(
  claims: SeatClaims,
  requestSpace: string,
): Iterable<readonly [string, readonly string[]]> {
  if (claims.by === 'name') return claims.entries
  return [[requestSpace, claims.by === 'id' ? claims.seats : claims.names]]
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
