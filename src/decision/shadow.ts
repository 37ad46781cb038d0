/**
 * Decides live requests by candidate tables too, to compare the codes of the two decisions (`allow`,
 * `permission_denied`, …). The answer to the client never depends on the candidate's.
 *
 * Most requests match entries that require the same in both tables, so that the decision is the same. For the
 * others, the caller is the one of the live decision, so that no credential is verified twice, and memory is
 * read as the live decision reads it. Without a lease, memory may not be current, and there is no decision.
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
  /** The caller of the live decision on the current request. */
  #caller: Evaluation['caller'] = null
  /** The policy of its route. It decides whether a session cookie counts. */
  #cors: CorsPolicy | null = null
  /** The resource of its route. It decides which tokens of other issuers are accepted. */
  #resource: string | undefined = undefined

  /**
   * @param live the parts of the live engine, with the candidate table, and an authenticator for requests
   *   that needed none
   */
  constructor(live: DecisionEngineOptions) {
    const { table, authenticator, lease } = live
    this.#table = table
    this.#engine = new DecisionEngine({
      ...live,
      authenticator: {
        authenticate: (credentials, trace, browser, cors, resource) => {
          const isSame = isSamePolicy(cors, this.#cors) && resource === this.#resource
          const caller = isSame ? this.#caller : null
          if (caller === null) return authenticator.authenticate(credentials, trace, browser, cors, resource)
          if (!(caller instanceof Refusal)) noteRecords(caller, trace)
          return caller
        },
      },
      lease: { live: () => lease.live(), renewed: () => Promise.reject(noLease) },
    })
  }

  /**
   * The code by the candidate tables. Synchronous if memory has the data. Throws or rejects if there is no
   * decision: the store can't be asked, or the lease has run out.
   */
  decide(request: AuthorizationRequest, live: Evaluation): DecisionCode | Promise<DecisionCode> {
    const { decision, caller } = live
    if (this.isAlike(request, live)) return decision.code
    // Read before `evaluate` returns, as the engine authenticates at once or not at all.
    this.#caller = caller
    this.#cors = decision.route?.cors ?? null
    this.#resource = decision.route?.mcp?.resource
    const evaluation = this.#engine.evaluate(request)
    this.#caller = null
    return evaluation instanceof Promise ? evaluation.then(codeOf) : codeOf(evaluation)
  }

  /**
   * Whether the candidate's entry and the live one require the same. The codes are the same then: what an
   * entry requires is all that a decision takes from it.
   */
  isAlike(
    request: AuthorizationRequest,
    { decision: { route, method, path }, preflight }: Evaluation,
  ): boolean {
    // The route of a preflight is for another method.
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

  /** The host to match; undefined: the whole engine has to read the request. */
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

/** Notes the records by which the live decision authenticated the caller. */
function noteRecords({ method, tenant, user, session }: Principal, trace: Trace): void {
  if (method === 'api-key') trace.found('api-key', tenant, user)
  if (session !== null) trace.found('session', tenant, session)
}

const noLease = new Error('no lease: memory may not be current')

function codeOf({ decision }: Evaluation): DecisionCode {
  return decision.code
}
