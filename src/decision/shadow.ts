/**
 * Decides live requests by candidate tables as well, to compare the two. Only the code counts: nothing is answered by it.
 *
 * Most requests find an entry that requires the same in both, and then the decision is the same. Otherwise the caller is the
 * one that the live decision found, so that no credential is verified twice, and memory is read as the live decision reads it.
 * Without a lease nothing is known to be current, and there is no decision.
 */

import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { CorsPolicy } from '../model/cors.ts'
import type { Decision, Evaluation, Trace } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import { canonicalHost } from '../model/host.ts'
import type { Principal } from '../model/principal.ts'
import type { Route } from '../model/route.ts'
import { isSpaceHeader, sourceText } from '../model/space-source.ts'
import type { RouteTable } from './router/table.ts'
import { DecisionEngine, type DecisionEngineOptions } from './engine.ts'

export type DecisionCode = Decision['code']

export class ShadowEngine {
  readonly #engine: DecisionEngine
  readonly #table: RouteTable
  /** What the live decision on the request in hand found. */
  #caller: Evaluation['caller'] = null
  /** On it depends whether a session cookie counts. */
  #cors: CorsPolicy | null = null

  /** @param live the parts of the live engine, with the candidate table, and an authenticator for requests that needed none */
  constructor(live: DecisionEngineOptions) {
    const { table, authenticator, lease } = live
    this.#table = table
    this.#engine = new DecisionEngine({
      ...live,
      authenticator: {
        authenticate: (credentials, trace, browser, cors) => {
          const known = isSamePolicy(cors, this.#cors) ? this.#caller : null
          if (known === null) return authenticator.authenticate(credentials, trace, browser, cors)
          if (!(known instanceof Refusal)) noteRecords(known, trace)
          return known
        },
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
    if (this.isAlike(request, live)) return decision.code
    // Read before `evaluate` returns, as the engine authenticates at once or not at all.
    this.#caller = caller
    this.#cors = decision.route?.cors ?? null
    const evaluation = this.#engine.evaluate(request)
    this.#caller = null
    return evaluation instanceof Promise ? evaluation.then(codeOf) : codeOf(evaluation)
  }

  /**
   * Whether the candidate's entry requires the same as that of the live decision, so that the code is the same: behind the
   * match, a decision depends on the entry by nothing else.
   */
  isAlike(
    request: AuthorizationRequest,
    { decision: { route, method, path }, preflight }: Evaluation,
  ): boolean {
    // The route of a preflight is that of another method.
    if (preflight !== null) return false
    // Whether a path with these is accepted depends on the upstream of the entry.
    if (route === null || path.includes(';') || path.includes('%')) return false
    const host = this.#hostOf(request)
    if (host === undefined) return false
    const match = this.#table.match(method, path, host)
    return (
      match !== null &&
      match.route.requirement === route.requirement &&
      match.route.tenant === route.tenant &&
      match.route.target.kind === route.target.kind &&
      isSameSource(match.route, route) &&
      isSamePolicy(match.route.cors, route.cors)
    )
  }

  /** Undefined: the whole engine has to read it. */
  #hostOf({ host, target }: AuthorizationRequest): string | null | undefined {
    if (this.#table.hosts === null) return null
    if (!target.startsWith('/')) return undefined
    return host === null ? null : (canonicalHost(host) ?? undefined)
  }
}

/** Whether the space of the request is read from the same place. A parameter depends on its pattern. */
function isSameSource(one: Route, other: Route): boolean {
  if (isSpaceHeader(one.space) && isSpaceHeader(other.space)) return true
  return one.path === other.path && sourceText(one.space) === sourceText(other.space)
}

/** Each table compiles its own. */
function isSamePolicy(a: CorsPolicy | null, b: CorsPolicy | null): boolean {
  return a?.key === b?.key
}

/** The records that the live decision found the caller by. */
function noteRecords({ method, tenant, user, session }: Principal, trace: Trace): void {
  if (method === 'api-key') trace.found('api-key', tenant, user)
  if (session !== null) trace.found('session', tenant, session)
}

const noLease = new Error('no lease: memory may not be current')

function codeOf({ decision }: Evaluation): DecisionCode {
  return decision.code
}
