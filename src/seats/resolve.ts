/** Principal → Grants: the Seats a credential names for a space, each as it is now. Called by the judge. */

import type { Grants, Holding, NamedSeat, Principal, Seat, Trace } from '../exchange.ts'

/** What resolving asks of memory: at once, or a promise while the store is asked. */
export interface SeatLookup {
  seatByName(tenant: string, name: string, trace: Trace): NamedSeat | Promise<NamedSeat>
  seatById(tenant: string, id: string, trace: Trace): Seat | null | Promise<Seat | null>
}

/** Synchronous when memory holds all of them. Rejects when the store can't be asked. */
export function resolve(
  seats: SeatLookup,
  principal: Principal,
  space: string,
  trace: Trace,
): Grants | Promise<Grants> {
  const { claims, tenant } = principal
  if (claims.by === 'id') {
    return grants(
      'id',
      claims.seats.map((id) => holdingById(id, seats.seatById(tenant, id, trace))),
    )
  }
  const names = claims.by === 'name' ? claims.entries.get(space) : claims.names
  if (names === undefined) return NO_ENTRY
  return grants(
    claims.by,
    names.map((name) => holdingByName(name, claims.issuedAt, seats.seatByName(tenant, name, trace))),
  )
}

const NO_ENTRY: Grants = Object.freeze({ by: 'name', holdings: Object.freeze([]) })

function grants(
  by: Grants['by'],
  holdings: readonly (Holding | Promise<Holding>)[],
): Grants | Promise<Grants> {
  return holdings.some((each) => each instanceof Promise)
    ? Promise.all(holdings).then((all) => ({ by, holdings: all }))
    : { by, holdings: holdings as readonly Holding[] }
}

function holdingById(id: string, found: Seat | null | Promise<Seat | null>): Holding | Promise<Holding> {
  if (found instanceof Promise) return found.then((seat) => holdingById(id, seat))
  return { name: found?.name ?? id, seat: found, givenUp: false }
}

function holdingByName(
  name: string,
  issuedAt: number,
  found: NamedSeat | Promise<NamedSeat>,
): Holding | Promise<Holding> {
  if (found instanceof Promise) return found.then((named) => holdingByName(name, issuedAt, named))
  const { seat, givenUpAt } = found
  // Whole seconds on both sides; a token of the very second can't prove that it came after.
  return { name, seat, givenUp: givenUpAt !== null && issuedAt <= givenUpAt }
}
