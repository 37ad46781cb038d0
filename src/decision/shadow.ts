/**
 * Decides live requests by candidate tables as well, to compare the two. Only the code counts: nothing is answered by it.
 *
 * Most requests find an entry that requires the same in both, and then the decision is the same. Otherwise the caller is the
 * one that the live decision found, so that no credential is verified twice, and memory is read as the live decision reads it.
 * Without a lease nothing is known to be current, and there is no decision.
 */

import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Decision, Evaluation } from '../model/decision.ts'
import type { RouteTable } from './router/table.ts'
import { DecisionEngine, type DecisionEngineOptions } from './engine.ts'

export type DecisionCode = Decision['code']

export class ShadowEngine {
  readonly #engine: DecisionEngine
  readonly #table: RouteTable
  /** What the live decision on the request in hand found. */
  #caller: Evaluation['caller'] = null

  /** @param live the parts of the live engine, with the candidate table, and an authenticator for requests that needed none */
  constructor(live: DecisionEngineOptions) {
    const { table, authenticator, lease } = live
    this.#table = table
    this.#engine = new DecisionEngine({
      ...live,
      authenticator: {
        authenticate: (credentials, trace, browser) =>
          this.#caller ?? authenticator.authenticate(credentials, trace, browser),
      },
      lease: { live: () => lease.live(), renewed: () => Promise.reject(noLease) },
    })
  }

  /**
   * Synchronous while memory has the data. Throws or rejects where there is no decision: the store can't be asked, or the
   * lease has run out.
   */
  decide(request: AuthorizationRequest, live: Evaluation): DecisionCode | Promise<DecisionCode> {
    const { decision, caller } = live
    if (this.isAlike(decision)) return decision.code
    // Read before `evaluate` returns, as the engine authenticates at once or not at all.
    this.#caller = caller
    const evaluation = this.#engine.evaluate(request)
    this.#caller = null
    return evaluation instanceof Promise ? evaluation.then(codeOf) : codeOf(evaluation)
  }

  /**
   * Whether the candidate's entry requires the same as that of the live decision, so that the code is the same: behind the
   * match, a decision depends on the entry by nothing else.
   */
  isAlike({ route, method, path }: Decision): boolean {
    // Whether a path with these is accepted depends on the upstream of the entry.
    if (route === null || path.includes(';') || path.includes('%')) return false
    const match = this.#table.match(method, path)
    return (
      match !== null &&
      match.route.requirement === route.requirement &&
      match.route.target.kind === route.target.kind
    )
  }
}

const noLease = new Error('no lease: memory may not be current')

function codeOf({ decision }: Evaluation): DecisionCode {
  return decision.code
}
