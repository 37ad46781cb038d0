/** The decision record, and what a decision is made of. */

import type { ErrorCode, Refusal } from './errors.ts'
import type { Principal, SeatClaims } from './principal.ts'
import type { Requirement, Route } from './route.ts'
import type { Seat } from './seat.ts'

/** A Seat that the credential names for this space, with its state as it is now. */
export interface ResolvedSeat {
  /** The name the credential or the store gives it; an id where the Seat is gone. */
  readonly name: string
  readonly seat: Seat | null
  /** The name was given up at or after the token's issue: this token gains nothing through it. */
  readonly givenUp: boolean
}

/** Input of the decision: everything the caller's credential names for the space, as it is now. */
export interface ResolvedSeats {
  readonly by: SeatClaims['by']
  readonly entries: readonly ResolvedSeat[]
}

export type SeatVerdict = 'grants' | 'lacks_permission' | 'not_in_space' | 'unknown' | 'name_given_up'

export interface ConsideredSeat {
  readonly name: string
  readonly id: string | null
  readonly verdict: SeatVerdict
}

/** Whether a list of them begins with these. */
export function beginsWith(seats: readonly ConsideredSeat[], first: readonly ConsideredSeat[]): boolean {
  if (seats === first) return true
  return first.every(({ name, verdict }, i) => name === seats[i]?.name && verdict === seats[i]?.verdict)
}

/** Where what a decision rests on came from: the slowest of them. */
export type Source = 'memory' | 'redis' | 'store'

/** Noted on the way, by whoever had to ask further than memory. */
export interface Trace {
  source: Source
}

/** Microseconds, of each stage and in all; 0 for a stage not reached, or where only the whole was timed. */
export interface Timings {
  match: number
  authenticate: number
  resolve: number
  decide: number
  total: number
}

/** The decision record: one shape for the request path, the log, `explain`, and later replay and shadowing. */
export interface Decision {
  readonly answer: 'allow' | 'deny'
  /** `allow`, or the one reason against. */
  readonly code: 'allow' | ErrorCode
  /** The reason in words, for people. */
  readonly reason: string
  readonly method: string
  /** Normalised; as it came where it could not be read. Never with a query. */
  readonly path: string
  readonly route: Route | null
  readonly permission: Requirement | null
  readonly principal: Principal | null
  readonly space: string | null
  readonly seats: readonly ConsideredSeat[]
  /** Null where no Seat and no key was looked at. */
  readonly source: Source | null
  readonly timings: Readonly<Timings>
}

/** What the variable segments of a route stand for in one path. */
export class PathParams {
  static readonly none: PathParams = new PathParams([], [])
  readonly #names: readonly string[]
  readonly #values: readonly string[]

  constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names
    this.#values = values
  }

  /** By name. Made when asked for: most requests are forwarded, and nobody asks. */
  toObject(): Record<string, string> {
    return Object.fromEntries(this.#names.map((name, i) => [name, this.#values[i] ?? '']))
  }
}

/** The decision, and what the later stages need of the earlier ones. */
export interface Evaluation {
  readonly decision: Decision
  /** Null when allowed. */
  readonly refusal: Refusal | null
  readonly params: PathParams
  /** With the `?`; '' when there is none. Passed on as it came. */
  readonly query: string
  /** Null for what goes to an upstream. */
  readonly resolved: ResolvedSeats | null
}
