/**
 * The spaces in which a caller's Seats do hold a permission, for a caller whose Seats do not hold it in the space that
 * it asked for. It tells an operator, or the caller, that the `Space` header is wrong. Not a part of the decision.
 */

import { authorize, resolvedById, resolvedByName, type SeatLookup } from '../authorize.ts'
import type { ResolvedSeat } from '../../model/decision.ts'
import type { Principal, SeatClaims } from '../../model/principal.ts'
import { SeatQuestion } from '../../model/decision-seat.ts'

/** Spaces that are named. */
const MOST_SPACES = 5
/** Seats that are looked up: a refused request must cost no more than an allowed one. */
const MOST_LOOKUPS = 16

/** Yields look-ups of Seats, and takes what they find. */
type Search = Generator<ResolvedSeat | Promise<ResolvedSeat>, void, ResolvedSeat>

/**
 * Synchronous while memory has the Seats. Seats too large for memory are left out. Never rejects.
 *
 * @param patience ms for reads of the store; what is found by then is the result
 */
export function grantedIn(
  seats: SeatLookup,
  principal: Principal,
  asked: SeatQuestion,
  patience: number,
): readonly string[] | Promise<readonly string[]> {
  const found = new Set<string>()
  const { claims } = principal
  const search =
    claims.by === 'name'
      ? searchEntries(seats, principal, claims, asked, found)
      : searchSeats(seats, principal, claims, asked, found)
  for (let step = search.next(); step.done !== true; step = search.next(step.value))
    if (step.value instanceof Promise) return finished(search, step.value, found, patience)
  return [...found]
}

/** @param first the first Seat that memory does not have */
async function finished(
  search: Search,
  first: Promise<ResolvedSeat>,
  found: ReadonlySet<string>,
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
  return [...found]
}

type Named<B extends SeatClaims['by']> = Extract<SeatClaims, { by: B }>

/** The entries of a token, by the spaces that it names. */
function* searchEntries(
  seats: SeatLookup,
  { tenant }: Principal,
  { entries, issuedAt }: Named<'name'>,
  { permission }: SeatQuestion,
  found: Set<string>,
): Search {
  let left = MOST_LOOKUPS
  for (const [space, names] of entries) {
    const question = new SeatQuestion(space, permission)
    for (const name of names) {
      if (left-- === 0 || found.size === MOST_SPACES) return
      const entry = yield resolvedByName(name, issuedAt, seats.seatByName(tenant, name, question))
      if (!isGranted(entry, question)) continue
      found.add(space)
      break
    }
  }
}

/** Seats without a space: those of an API key, and the names in a provider's own token. */
function* searchSeats(
  seats: SeatLookup,
  { tenant }: Principal,
  claims: Named<'id' | 'any-space'>,
  asked: SeatQuestion,
  found: Set<string>,
): Search {
  const named = claims.by === 'id' ? claims.seats : claims.names
  for (const each of named.slice(0, MOST_LOOKUPS)) {
    const entry = yield claims.by === 'id'
      ? resolvedById(each, seats.seatById(tenant, each, asked))
      : resolvedByName(each, claims.issuedAt, seats.seatByName(tenant, each, asked))
    for (const space of entry.seat?.spaces ?? []) {
      if (found.size === MOST_SPACES) return
      // The permissions of a Seat are the same in all of its spaces.
      if (!isGranted(entry, new SeatQuestion(space, asked.permission))) break
      found.add(space)
    }
  }
}

function isGranted(entry: ResolvedSeat, { space, permission }: SeatQuestion): boolean {
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
