/** Principal → Grants: the Seats a credential names for a space, each as it is now. Called by the judge. */

import { EVERY_PERMISSION, holds } from '../../../seats-admin/model/permission.ts'
import type { Grants, Holding, Trace } from '../../model/decision.ts'
import type { Principal } from '../../model/principal.ts'
import type { NamedSeat, Seat, SeatQuestion } from '../../model/seat.ts'

/** What resolving asks of memory: at once, or a promise while the store is asked. */
export interface SeatLookup {
  seatByName(
    tenant: string,
    name: string,
    question: SeatQuestion,
    trace: Trace,
  ): NamedSeat | Promise<NamedSeat>
  seatById(
    tenant: string,
    id: string,
    question: SeatQuestion,
    trace: Trace,
  ): Seat | null | Promise<Seat | null>
}

/** Seats of one credential that the store is asked for at once; the next ones are looked up when these are there. */
const AT_ONCE = 8

/** Synchronous when memory holds all of them. Rejects when the store can't be asked. */
export function resolve(
  seats: SeatLookup,
  principal: Principal,
  question: SeatQuestion,
  trace: Trace,
): Grants | Promise<Grants> {
  const { claims, tenant } = principal
  if (claims.by === 'id') {
    const look = (id: string) => holdingById(id, seats.seatById(tenant, id, question, trace))
    return grants('id', claims.seats, question, look)
  }
  const names = claims.by === 'name' ? claims.entries.get(question.space) : claims.names
  if (names === undefined) return NO_ENTRY
  const { issuedAt } = claims
  const look = (name: string) =>
    holdingByName(name, issuedAt, seats.seatByName(tenant, name, question, trace))
  return grants(claims.by, names, question, look)
}

const NO_ENTRY: Grants = Object.freeze({ by: 'name', holdings: Object.freeze([]) })

type Look = (nameOrId: string) => Holding | Promise<Holding>

function grants(
  by: Grants['by'],
  named: readonly string[],
  question: SeatQuestion,
  look: Look,
): Grants | Promise<Grants> {
  const holdings: Holding[] = []
  for (const each of named) {
    const holding = look(each)
    if (holding instanceof Promise) return rest(by, named, question, look, holdings, holding)
    holdings.push(holding)
  }
  return { by, holdings }
}

/** @param first of those that memory does not hold */
async function rest(
  by: Grants['by'],
  named: readonly string[],
  question: SeatQuestion,
  look: Look,
  holdings: Holding[],
  first: Promise<Holding>,
): Promise<Grants> {
  const answer = new Answers(question)
  let started: (Holding | Promise<Holding>)[] = [first]
  for (;;) {
    const next = holdings.length + started.length
    for (const each of named.slice(next, holdings.length + AT_ONCE)) started.push(look(each))
    for (const holding of await Promise.all(started)) holdings.push(answer.of(holding))
    if (holdings.length === named.length) return { by, holdings }
    started = []
  }
}

/**
 * Seats cut down to the answer to one question. Memory may not hold them, and a request that waits for hundreds of
 * others would.
 */
class Answers {
  readonly #question: SeatQuestion
  readonly #space: ReadonlySet<string>
  readonly #permission: ReadonlySet<string>

  constructor(question: SeatQuestion) {
    this.#question = question
    this.#space = new Set([question.space])
    this.#permission = new Set([question.permission])
  }

  of(holding: Holding): Holding {
    const { name, seat, givenUp } = holding
    if (seat === null) return holding
    const { space, permission } = this.#question
    const spaces = seat.spaces.has(space) ? this.#space : NOTHING
    const held = holds(seat.permissions, permission)
    const permissions = held ? (seat.permissions.has(EVERY_PERMISSION) ? ALL : this.#permission) : NOTHING
    return {
      name,
      seat: { id: seat.id, name: seat.name, complete: false, spaces, permissions },
      givenUp,
    }
  }
}

const NOTHING: ReadonlySet<string> = new Set()
const ALL: ReadonlySet<string> = new Set([EVERY_PERMISSION])

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
