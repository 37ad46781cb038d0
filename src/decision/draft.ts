/** The results of the stages of a decision so far. They become the decision record. */

import { performance } from 'node:perf_hooks'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import {
  type ConsideredSeat,
  type Decision,
  type Evaluation,
  PathParams,
  type ResolvedSeats,
  type TimedGrants,
  type Timings,
} from '../model/decision.ts'
import type { ErrorCode, Refusal } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'
import type { Route } from '../model/route.ts'
import { unreadPath } from './router/path.ts'
import { DecisionReads } from './seats/decision-reads.ts'
import { ReceivedChanges } from './seats/received-changes.ts'

const NO_SEATS: readonly ConsideredSeat[] = Object.freeze([])
const NO_SPACES: readonly string[] = Object.freeze([])

export class Draft {
  readonly request: AuthorizationRequest
  readonly config: string | null
  readonly reads: DecisionReads
  readonly timings: Timings = { match: 0, authenticate: 0, resolve: 0, decide: 0, total: 0 }
  readonly #startedAt = performance.now()
  /** Monotonic ms at the end of the last stage; null: stages are not timed. */
  #mark: number | null
  path = ''
  query = ''
  /** The host as received; null: the request names none. */
  authority: string | null = null
  route: Route | null = null
  params = PathParams.none
  caller: Principal | Refusal | null = null
  principal: Principal | null = null
  space: string | null = null
  /**
   * Not a part of the evaluation: a request may stay open for long, and would retain Seats that memory has
   * evicted.
   */
  resolved: ResolvedSeats | null = null
  seats = NO_SEATS
  grants: TimedGrants | null = null
  cors: string | null = null
  preflight: string | null = null

  constructor(request: AuthorizationRequest, stages: boolean, config: string | null, reads: DecisionReads) {
    this.request = request
    this.config = config
    this.reads = reads
    this.#mark = stages ? this.#startedAt : null
  }

  /** A draft for another route of the same request. */
  for(route: Route): Draft {
    const { path, query, authority, params, cors } = this
    const draft = new Draft(this.request, this.#mark !== null, this.config, this.reads)
    return Object.assign(draft, { path, query, authority, params, cors, route })
  }

  /**
   * Records the time since the last stage. Reading the clock costs as much as a lookup, so it is optional.
   */
  endStage(stage: keyof Timings): void {
    if (this.#mark === null) return
    const now = performance.now()
    this.timings[stage] = (now - this.#mark) * 1000
    this.#mark = now
  }

  finish(): Timings {
    this.timings.total = (performance.now() - this.#startedAt) * 1000
    return this.timings
  }
}

/** The reads of a request that is only parsed. */
export const READS_NOTHING = new DecisionReads(new ReceivedChanges())

/** The evaluation of a request that was refused before the engine could read it. */
export function unreadableEvaluation(request: AuthorizationRequest, refusal: Refusal): Evaluation {
  const draft = new Draft(request, false, null, READS_NOTHING)
  draft.path = unreadPath(request.target)
  return refused(draft, refusal)
}

export function allowed(draft: Draft, reason: string): Evaluation {
  return evaluation(draft, 'allow', 'allow', reason, null)
}

export function refused(draft: Draft, refusal: Refusal): Evaluation {
  return evaluation(draft, 'deny', refusal.code, refusal.detail, refusal)
}

function evaluation(
  draft: Draft,
  answer: Decision['answer'],
  code: 'allow' | ErrorCode,
  reason: string,
  refusal: Refusal | null,
): Evaluation {
  return {
    decision: {
      answer,
      code,
      reason,
      method: draft.request.method,
      path: draft.path,
      route: draft.route,
      // A preflight is answered without it.
      permission: draft.preflight === null ? (draft.route?.requirement ?? null) : null,
      principal: draft.principal,
      space: draft.space,
      seats: draft.seats,
      grantedIn: NO_SPACES,
      source: draft.principal === null ? null : draft.reads.source,
      timings: draft.finish(),
      config: draft.config,
    },
    refusal,
    grants: draft.grants,
    caller: draft.caller,
    params: draft.params,
    query: draft.query,
    cors: draft.cors,
    preflight: draft.preflight,
  }
}
