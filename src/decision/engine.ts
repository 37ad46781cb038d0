/**
 * The decision engine: an authorization request in, a decision record out. It runs the stages in order
 * (match, authenticate, resolve, authorize) and has no rules of its own. The request path and `seatgate
 * explain` share it.
 *
 * A result is synchronous if memory has the data, and a promise if the store or an identity provider is
 * asked.
 */

import { ambiguousHost, headerSpace, repeatedSpace, spaceOf } from './authn/request-space.ts'
import type { SeatLookup } from './authorize.ts'
import type { CacheLookups } from '../model/cache-lookups.ts'
import { Refusal } from '../model/errors.ts'
import type { AuthorizationRequest, BrowserContext, Credentials } from '../model/authorization-request.ts'
import type { Evaluation, Trace } from '../model/decision.ts'
import { canonicalHost } from '../model/host.ts'
import type { Principal } from '../model/principal.ts'
import { type HeldPermissions, type McpEndpoint, type Route, takesTenant } from '../model/route.ts'
import { SeatQuestion } from '../model/decision-seat.ts'
import type { CorsPolicy } from '../model/cors.ts'
import { allOf, linesOf, withoutPermission } from './call-lines.ts'
import { answerPreflight, corsLines, hasTwoOrigins, sharedCorsLines } from './preflight.ts'
import { SeatAuthorization } from './seat-authorization.ts'
import { allowed, Draft, READS_NOTHING, refused } from './draft.ts'
import { ambiguityOf } from './router/ambiguity.ts'
import { NO_EXCEPTIONS, type PathExceptions } from './router/pattern.ts'
import { type RequestTarget, readTarget, unreadPath } from './router/path.ts'
import type { Match, RouteTable } from './router/table.ts'
import { grantedIn } from './seats/granted-in.ts'
import { decideOnOneState } from './seats/decision-reads.ts'
import { heldPermissions, type WholeSeats } from './seats/held-permissions.ts'
import type { ReceivedChanges } from './seats/received-changes.ts'
import type { RestrictionLookup } from './seats/restrictions.ts'

export interface RequestAuthenticator {
  authenticate(
    credentials: Credentials,
    trace: Trace,
    browser: BrowserContext,
    cors: CorsPolicy | null,
    resource: string | undefined,
  ): Principal | Refusal | Promise<Principal | Refusal>
  /**
   * Refuses a change by a session cookie that no page of the gateway's own origin makes; null for any other
   * request. For built-in endpoints. Left out: no cookie is a credential.
   */
  foreignChange?(credentials: Credentials, browser: BrowserContext): Refusal | null
}

/** The right to decide from memory; see `coherence/lease.ts`. */
export interface MemoryLease {
  live(): boolean
  renewed(): Promise<void>
}

export interface DecisionEngineOptions {
  readonly table: RouteTable
  readonly authenticator: RequestAuthenticator
  readonly seats: SeatLookup & WholeSeats & { readonly received: ReceivedChanges }
  readonly restrictions: RestrictionLookup
  readonly lease: MemoryLease
  readonly lookups?: CacheLookups
  /** The authorization of a caller with more Seats than this for a space is cached. */
  readonly fewSeats?: number
  /** Request methods that are served; left out: all. */
  readonly methods?: ReadonlySet<string>
  /** Bytes of a request target. */
  readonly targetBytes: number
  /** The content hash of the tables, for the record; left out: the tables are not from files. */
  readonly config?: string
  /** The exceptions for paths that the route's upstream accepts; none for a route of the gateway itself. */
  readonly exceptions: (route: Route) => PathExceptions
}

const NOTHING_HELD: HeldPermissions = Object.freeze({ all: false, permissions: new Set<string>() })

const notConfigured = new Refusal('route_not_found', 'This built-in endpoint is not configured.')
const noRouteAt = (where: string) =>
  new Refusal('route_not_found', `No entry of the route table matches this path${where}.`)
const noRoute = noRouteAt('')
const noMessage = new Refusal(
  'request_malformed',
  'The message decides here, and none was read: a question names the tool, prompt or resource.',
)
const repeatedOrigin = new Refusal('request_malformed', 'The Origin header is sent more than once.')
const otherTenant = new Refusal(
  'tenant_mismatch',
  'The credential is of another tenant than the one that this route is for.',
)

const REASONS = {
  public: 'The route is public.',
  preflight: 'The cors of the table grants the preflight.',
}

export class DecisionEngine {
  readonly #parts: DecisionEngineOptions
  readonly #authorization: SeatAuthorization

  constructor(parts: DecisionEngineOptions) {
    this.#parts = parts
    this.#authorization = new SeatAuthorization(parts.seats, parts)
  }

  /**
   * Decides. Rejects if the store can't be asked and memory has no current data: the response is 503.
   *
   * @param stages times each stage, not only the total
   */
  evaluate(request: AuthorizationRequest, stages = false): Evaluation | Promise<Evaluation> {
    const { config = null, seats } = this.#parts
    return decideOnOneState(seats.received, (reads) =>
      this.#evaluate(new Draft(request, stages, config, reads)),
    )
  }

  #evaluate(draft: Draft): Evaluation | Promise<Evaluation> {
    const { request } = draft
    const target = this.#read(draft)
    if (target instanceof Refusal) return refused(draft, target)
    const preflight = request.method === 'OPTIONS' ? this.#preflight(draft, target) : null
    if (preflight !== null) return preflight
    const matched = this.#match(draft, target)
    draft.endStage('match')
    if (matched instanceof Refusal) return refused(draft, matched)
    return this.#evaluateRoute(draft, matched)
  }

  #evaluateRoute(draft: Draft, route: Route): Evaluation | Promise<Evaluation> {
    if (route.requirement === 'public') return admitPublic(draft, route)
    const { target } = route
    if (target.kind !== 'upstream') {
      if (target.kind === 'mcp') return this.#evaluateCall(draft, target.endpoint)
      const foreign = this.#foreignChange(draft, route)
      if (foreign !== null) return refused(draft, foreign)
    }
    const { lease } = this.#parts
    if (lease.live()) return this.#authenticate(draft, route)
    return lease.renewed().then(() => this.#authenticate(draft, route))
  }

  /** Decides a call of an MCP server by its lines, each of which must allow it. */
  #evaluateCall(draft: Draft, server: McpEndpoint): Evaluation | Promise<Evaluation> {
    const call = draft.request.fields?.call
    if (call === undefined) return withoutPermission(refused(draft, noMessage))
    const lines = linesOf(server, call)
    if (lines instanceof Refusal) {
      draft.route = null
      return refused(draft, lines)
    }
    return this.#evaluateLines(draft, lines)
  }

  /**
   * In a loop: a table has up to tens of thousands of lines, and one call may need all of them.
   *
   * @param allowing the evaluations of the first lines
   */
  #evaluateLines(
    draft: Draft,
    lines: readonly Route[],
    allowing: Evaluation[] = [],
  ): Evaluation | Promise<Evaluation> {
    for (const line of lines.slice(allowing.length)) {
      const evaluation = this.#evaluateRoute(draft.for(line), line)
      if (evaluation instanceof Promise) {
        const rest = (late: Evaluation) => this.#evaluateLines(draft, lines, [...allowing, late])
        return evaluation.then((late) => (late.refusal === null ? rest(late) : late))
      }
      if (evaluation.refusal !== null) return evaluation
      allowing.push(evaluation)
    }
    return allOf(allowing)
  }

  /** The lines of `Evaluation.cors` for a request that could not be decided. */
  corsOf(request: AuthorizationRequest): string | null {
    const draft = new Draft(request, false, null, READS_NOTHING)
    const target = this.#read(draft)
    if (!(target instanceof Refusal)) this.#match(draft, target)
    return draft.cors
  }

  /** The MCP server that the path of the request is of; null: it is of none. */
  mcpServerOf(request: AuthorizationRequest): McpEndpoint | null {
    const draft = new Draft(request, false, null, READS_NOTHING)
    const target = this.#read(draft)
    const route = target instanceof Refusal ? target : this.#match(draft, target)
    return !(route instanceof Refusal) && route.target.kind === 'mcp' ? route.target.endpoint : null
  }

  /**
   * All permissions of the caller in the request's space, for a built-in endpoint that grants permissions: as
   * of a state that allows the request. Rejects if the store can't be asked.
   *
   * @param until ms since the epoch: what the caller has by grants that end before is left out, so that it
   *   cannot be passed on for longer
   */
  async held(request: AuthorizationRequest, until: number): Promise<HeldPermissions | Refusal> {
    const { seats } = this.#parts
    return decideOnOneState(seats.received, async (reads) => {
      const draft = new Draft(request, false, null, reads)
      const { refusal } = await this.#evaluate(draft)
      if (refusal !== null) return refusal
      const { principal, space, resolved } = draft
      if (principal === null || space === null || resolved === null) return NOTHING_HELD
      const entries = resolved.entries.filter(({ grant }) => grant === undefined || grant.until >= until)
      return heldPermissions(seats, principal.tenant, { ...resolved, entries }, space, reads)
    })
  }

  /**
   * Adds the spaces in which the caller's Seats do hold the permission to a refusal `no_seat_in_space` or
   * `permission_denied`. Any other evaluation stays as it is. The decision does not depend on it. Synchronous
   * if memory has the Seats. Never rejects.
   *
   * @param patience ms for reads of the store; the refusal names the spaces that are known by then
   */
  nameSpaces(evaluation: Evaluation, patience: number): Evaluation | Promise<Evaluation> {
    const { principal, space, permission } = evaluation.decision
    if (!isForSpace(evaluation) || principal === null || space === null || permission === null)
      return evaluation
    const question = new SeatQuestion(space, permission)
    const spaces = grantedIn(this.#parts.seats, principal, question, patience)
    if (spaces instanceof Promise) return spaces.then((late) => withSpaces(evaluation, late))
    return withSpaces(evaluation, spaces)
  }

  #read(draft: Draft): RequestTarget | Refusal {
    const target = readTarget(draft.request.target, draft.request.host, this.#parts.targetBytes)
    if (target instanceof Refusal) draft.path = unreadPath(draft.request.target)
    else {
      draft.path = target.path
      draft.query = target.query
      draft.authority = draft.request.host ?? target.authority
    }
    return target
  }

  #match(draft: Draft, target: RequestTarget): Route | Refusal {
    const { table } = this.#parts
    const host = table.hosts === null ? null : hostOf(draft)
    if (host instanceof Refusal) return host
    const match: Match | null = table.match(draft.request.method, target.path, host)
    const cors = match?.route.cors ?? null
    if (cors !== null) draft.cors = corsLines(cors, draft.request.browser)
    const ambiguity = this.#ambiguity(target, match?.route ?? null)
    if (ambiguity !== null) return ambiguity
    if (match === null) return noMatch(table, draft, host)
    const { route } = match
    draft.route = route
    draft.params = match.params
    return cors !== null && hasTwoOrigins(draft.request.browser) ? repeatedOrigin : route
  }

  #ambiguity(target: RequestTarget, route: Route | null): Refusal | null {
    if (!target.semicolon && !target.encodedSlash && !target.hiddenSeparator) return null
    return ambiguityOf(target, route, route === null ? NO_EXCEPTIONS : this.#parts.exceptions(route))
  }

  /** Null: the request is no preflight that a table answers. */
  #preflight(draft: Draft, target: RequestTarget): Evaluation | null {
    const { table, methods } = this.#parts
    const preflight = draft.request.browser.preflight ?? null
    if (preflight === null) return null
    const host = table.hosts === null ? null : hostOf(draft)
    // The match that follows refuses it.
    if (host instanceof Refusal) return null
    const answer = answerPreflight({ table, path: target.path, host, served: methods }, preflight)
    if (answer === null) return null
    draft.route = answer.route
    draft.preflight = answer.lines
    const refusal = this.#ambiguity(target, answer.route) ?? answer.refusal
    return refusal === null ? allowed(draft, REASONS.preflight) : refused(draft, refusal)
  }

  /**
   * The refusal of a change from a foreign page. It comes before every other refusal, except of a malformed
   * request.
   */
  #foreignChange(draft: Draft, { space }: Route): Refusal | null {
    const { request } = draft
    const foreign = this.#parts.authenticator.foreignChange?.(request.credentials, request.browser) ?? null
    if (foreign === null) return null
    const value = spaceOf(request, space, draft)
    return value instanceof Refusal && value.code === 'request_malformed' ? value : foreign
  }

  #authenticate(draft: Draft, route: Route): Evaluation | Promise<Evaluation> {
    const { credentials, browser } = draft.request
    const space = spaceOf(draft.request, route.space, draft)
    if (space === repeatedSpace) return refused(draft, repeatedSpace)
    const { authenticator } = this.#parts
    const resource = route.mcp?.resource
    const caller = authenticator.authenticate(credentials, draft.reads, browser, route.cors, resource)
    if (caller instanceof Promise) return caller.then((late) => this.#admit(draft, route, late, space))
    return this.#admit(draft, route, caller, space)
  }

  #admit(
    draft: Draft,
    route: Route,
    caller: Principal | Refusal,
    space: string | Refusal,
  ): Evaluation | Promise<Evaluation> {
    draft.endStage('authenticate')
    draft.caller = caller
    if (caller instanceof Refusal) return refused(draft, caller)
    draft.principal = caller
    const restriction = this.#parts.restrictions.restriction(caller, draft.reads)
    if (restriction instanceof Promise)
      return restriction.then((late) => this.#enter(draft, route, caller, space, late))
    return this.#enter(draft, route, caller, space, restriction)
  }

  /** @param restriction null: the caller is not restricted */
  #enter(
    draft: Draft,
    route: Route,
    caller: Principal,
    space: string | Refusal,
    restriction: Refusal | null,
  ): Evaluation | Promise<Evaluation> {
    // A void credential is no credential, on whatever route.
    if (restriction?.code === 'token_revoked') return refusedIn(draft, space, restriction)
    if (!takesTenant(route, caller.tenant)) return refusedIn(draft, space, otherTenant)
    if (restriction !== null) return refusedIn(draft, space, restriction)
    return this.#authorization.authorize(draft, route.requirement, caller, space)
  }
}

/**
 * Whether the request was refused for what the caller's Seats hold in its space: another space may be the
 * right one.
 */
export function isForSpace({ refusal }: Evaluation): boolean {
  return refusal?.code === 'no_seat_in_space' || refusal?.code === 'permission_denied'
}

/** Refuses before the space counts. The log has the space, so that its line can be decided again. */
function refusedIn(draft: Draft, space: string | Refusal, refusal: Refusal): Evaluation {
  if (typeof space === 'string') draft.space = space
  return refused(draft, refusal)
}

function withSpaces(evaluation: Evaluation, spaces: readonly string[]): Evaluation {
  const { decision, refusal: bare } = evaluation
  if (spaces.length === 0 || bare === null) return evaluation
  // The caller learns only of spaces that its own credential names.
  const claims = decision.principal?.claims
  const own = claims?.by === 'name' ? spaces.filter((space) => claims.entries.has(space)) : []
  const hint = `The credential names Seats that hold ${decision.permission} in ${own.join(', ')}.`
  const refusal = own.length === 0 ? bare : new Refusal(bare.code, `${bare.detail} ${hint}`)
  return { ...evaluation, refusal, decision: { ...decision, reason: refusal.detail, grantedIn: spaces } }
}

/** No credential is read. An upstream may read Space, so a repeated Space is refused here too. */
function admitPublic(draft: Draft, { target }: Route): Evaluation {
  if (headerSpace(draft.request.credentials) === repeatedSpace) return refused(draft, repeatedSpace)
  if (target.kind === 'public' && target.handler === null) {
    draft.route = null
    return refused(draft, notConfigured)
  }
  return allowed(draft, REASONS.public)
}

/**
 * The host if tables name hosts. One that readers may see differently could be one of these to an upstream:
 * it would serve a path of a table whose permission was not checked.
 */
function hostOf({ authority }: Draft): string | null | Refusal {
  return authority === null ? null : (canonicalHost(authority) ?? ambiguousHost)
}

function noMatch(table: RouteTable, draft: Draft, host: string | null): Refusal {
  const methods = table.allowedMethods(draft.path, host)
  // A table of other hosts may have this path.
  const where = table.hosts === null || host === null ? '' : ` at ${host}`
  if (methods.length === 0) return where === '' ? noRoute : noRouteAt(where)
  draft.cors = sharedCorsLines(table.routesAt(draft.path, host), draft.request.browser)
  const allow = methods.join(', ')
  return new Refusal('method_not_allowed', `This path${where} takes ${allow}.`, { allow })
}
