/** The decision record, and the parts of a decision. */

import type { ChangeKind } from '../../seats-admin/model/change.ts'
import type { GrantTerm } from '../../seats-admin/model/grant.ts'
import type { ErrorCode, Refusal } from './errors.ts'
import type { Principal, SeatClaims } from './principal.ts'
import { forwardedPath, type Requirement, type Route } from './route.ts'
import type { Seat } from './decision-seat.ts'

/** A Seat that the credential names for this space, in its current state. */
export interface ResolvedSeat {
  /** The name in the credential or the store; the Seat's id if the Seat is gone. */
  readonly name: string
  readonly seat: Seat | null
  /** The name was given up at or after the token's time of issue: the Seat grants this token nothing. */
  readonly nameGivenUp: boolean
  /** The grant that gives the caller the Seat; left out: the credential does, or a group. */
  readonly grant?: GrantTerm
}

/** Input of the authorization: all Seats that the credential names for the space, in their current state. */
export interface ResolvedSeats {
  readonly by: SeatClaims['by']
  readonly entries: readonly ResolvedSeat[]
}

export type SeatVerdict = 'grants' | 'lacks_permission' | 'not_in_space' | 'unknown' | 'name_given_up'

export interface ConsideredSeat {
  readonly name: string
  readonly id: string | null
  readonly verdict: SeatVerdict
  /** As of {@link ResolvedSeat}. */
  readonly grant?: GrantTerm
}

/** Whether the Seats have the same names and verdicts, in the same order. */
export function haveSameVerdicts(
  some: readonly ConsideredSeat[],
  others: readonly ConsideredSeat[],
): boolean {
  if (some.length !== others.length) return false
  for (let i = 0; i < some.length; i++)
    if (some[i]?.name !== others[i]?.name || some[i]?.verdict !== others[i]?.verdict) return false
  return true
}

/** The origin of the data of a decision; the slowest one if there are several. */
export type Source = 'memory' | 'redis' | 'store'

/** A record that is being read. */
export interface AwaitedRecord {
  /** The position of the change feed at which it was read. */
  asOf: number
}

/** Receives which records a decision reads, and the origin of data that does not come from memory. */
export interface Trace {
  source: Source
  /** Memory has the record. */
  found(kind: ChangeKind, tenant: string, key: string): void
  /** The record is being read; the reader sets the position. */
  awaited(kind: ChangeKind, tenant: string, key: string): AwaitedRecord
  /** Reads the record from the store directly. Rejects as `load` does. */
  read<V>(
    kind: ChangeKind,
    tenant: string,
    key: string,
    load: () => Promise<{ readonly seq: number; readonly value: V }>,
  ): Promise<V>
  /** The decision does not depend on what it has read so far. */
  discard(): void
  /** What the decision has read elsewhere has changed since: it has to be made again. */
  outdated(): void
}

/**
 * The current record of a tenant; null: there is none. Synchronous if memory has it. Rejects if the store
 * can't be asked.
 */
export type RecordLookup<R> = (tenant: string, id: string, trace?: Trace) => R | null | Promise<R | null>

/** Microseconds, by stage and in total. 0: the stage was not reached, or only the total is measured. */
export interface Timings {
  match: number
  authenticate: number
  resolve: number
  decide: number
  total: number
}

/** The decision record: one shape for the request path, the log and `explain`. */
export interface Decision {
  readonly answer: 'allow' | 'deny'
  /** `allow`, or the one reason for the refusal. */
  readonly code: 'allow' | ErrorCode
  /** The reason as a sentence. */
  readonly reason: string
  readonly method: string
  /**
   * Normalised path; the path as received if it is unreadable, with a final `#` for a fragment. Never
   * includes the query.
   */
  readonly path: string
  readonly route: Route | null
  readonly permission: Requirement | null
  readonly principal: Principal | null
  /** The space of the request, even if the route needs none; null: no credential was accepted. */
  readonly space: string | null
  readonly seats: readonly ConsideredSeat[]
  /** Some other spaces in which the caller's Seats hold the permission, with `no_seat_in_space`. */
  readonly grantedIn: readonly string[]
  /** The origin of the data; null: neither a Seat nor an API key was looked up. */
  readonly source: Source | null
  readonly timings: Readonly<Timings>
  /** The content hash of the tables that decided; null: none did, or they are not from files. */
  readonly config: string | null
}

/** The values of a route's variable segments in one path. */
export class PathParams {
  static readonly none: PathParams = new PathParams([], [])
  readonly #names: readonly string[]
  readonly #values: readonly string[]

  constructor(names: readonly string[], values: readonly string[]) {
    this.#names = names
    this.#values = values
  }

  /** Null: the pattern has no such parameter. */
  get(name: string): string | null {
    const at = this.#names.indexOf(name)
    return at < 0 ? null : (this.#values[at] ?? null)
  }

  /** Built on demand: a forwarded request does not need it. */
  toObject(): Record<string, string> {
    return Object.fromEntries(this.#names.map((name, i) => [name, this.#values[i] ?? '']))
  }
}

/**
 * The request target that is forwarded: the path that was matched, as its route rewrites it, and the query as
 * received.
 */
export function forwardedTarget({ decision: { path, route }, query }: Evaluation): string {
  return forwardedPath(route?.rewrite ?? null, path) + query
}

/** Grants that begin and end without a change of the store. */
export interface TimedGrants {
  /**
   * Whether the same ones are in force now.
   *
   * @param now monotonic ms
   * @param wall ms since the epoch
   */
  isCurrent(now: number, wall: number): boolean
}

/** The decision, and the results of earlier stages that later stages use. */
export interface Evaluation {
  readonly decision: Decision
  /** Null if allowed. */
  readonly refusal: Refusal | null
  /** The caller's grants at the decision; null: it does not depend on the time. */
  readonly grants: TimedGrants | null
  /** The result of authentication; null: the decision needed no credential. */
  readonly caller: Principal | Refusal | null
  readonly params: PathParams
  /** The query with its `?`, as received; '': the target has none. */
  readonly query: string
  /**
   * The lines `Access-Control-*` of the response, each with its CRLF; '': no page of another origin may read
   * it. Null: the table has no `cors`, or none is known.
   */
  readonly cors: string | null
  /**
   * The lines of the answer to a preflight, Vary included. The route is then the one of the announced
   * request. Null: the request is no preflight that the table answers.
   */
  readonly preflight: string | null
}
