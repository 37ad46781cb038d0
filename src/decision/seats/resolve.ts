/** Principal → Grants: the Seats a credential names for a space, each as it is now. */

import { EVERY_PERMISSION, holds } from '../../../seats-admin/model/permission.ts'
import type { ResolvedSeats, ResolvedSeat, Trace } from '../../model/decision.ts'
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
): ResolvedSeats | Promise<ResolvedSeats> {
  const { claims, tenant } = principal
  if (claims.by === 'id') {
    const look = (id: string) => holdingById(id, seats.seatById(tenant, id, question, trace))
    return resolved('id', claims.seats, question, look)
  }
  const names = claims.by === 'name' ? claims.entries.get(question.space) : claims.names
  if (names === undefined) return NO_ENTRY
  const { issuedAt } = claims
  const look = (name: string) =>
    holdingByName(name, issuedAt, seats.seatByName(tenant, name, question, trace))
  return resolved(claims.by, names, question, look)
}

const NO_ENTRY: ResolvedSeats = Object.freeze({ by: 'name', entries: Object.freeze([]) })

type Look = (nameOrId: string) => ResolvedSeat | Promise<ResolvedSeat>

function resolved(
  by: ResolvedSeats['by'],
  named: readonly string[],
  question: SeatQuestion,
  look: Look,
): ResolvedSeats | Promise<ResolvedSeats> {
  const entries: ResolvedSeat[] = []
  for (const each of named) {
    const entry = look(each)
    if (entry instanceof Promise) return rest(by, named, question, look, entries, entry)
    entries.push(entry)
  }
  return { by, entries }
}

/** @param first of those that memory does not hold */
async function rest(
  by: ResolvedSeats['by'],
  named: readonly string[],
  question: SeatQuestion,
  look: Look,
  entries: ResolvedSeat[],
  first: Promise<ResolvedSeat>,
): Promise<ResolvedSeats> {
  const answer = new Answers(question)
  let started: (ResolvedSeat | Promise<ResolvedSeat>)[] = [first]
  for (;;) {
    const next = entries.length + started.length
    for (const each of named.slice(next, entries.length + AT_ONCE)) started.push(look(each))
    for (const entry of await Promise.all(started)) entries.push(answer.of(entry))
    if (entries.length === named.length) return { by, entries }
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

  of(entry: ResolvedSeat): ResolvedSeat {
    const { name, seat, givenUp } = entry
    if (seat === null) return entry
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

function holdingById(
  id: string,
  found: Seat | null | Promise<Seat | null>,
): ResolvedSeat | Promise<ResolvedSeat> {
  if (found instanceof Promise) return found.then((seat) => holdingById(id, seat))
  return { name: found?.name ?? id, seat: found, givenUp: false }
}

function holdingByName(
  name: string,
  issuedAt: number,
  found: NamedSeat | Promise<NamedSeat>,
): ResolvedSeat | Promise<ResolvedSeat> {
  if (found instanceof Promise) return found.then((named) => holdingByName(name, issuedAt, named))
  const { seat, givenUpAt } = found
  // Whole seconds on both sides; a token of the very second can't prove that it came after.
  return { name, seat, givenUp: givenUpAt !== null && issuedAt <= givenUpAt }
}
