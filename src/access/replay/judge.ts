/** Decides a logged request as the gateway would with other tables and Seats. */

import type { Evaluation } from '../../model/decision.ts'
import { type ErrorCode, Refusal } from '../../model/errors.ts'
import type { Principal, SeatClaims } from '../../model/principal.ts'
import { canonicalHost } from '../../model/host.ts'
import { needsPermission, type Route } from '../../model/route.ts'
import { isSpaceHeader, SPACE_HEADER, type SpaceSource } from '../../model/space-source.ts'
import { OfflineEngine, type SeatSource } from '../offline-engine.ts'
import { decidingRoute, type Tables } from '../tables.ts'
import type { LoggedCaller, LoggedRequest } from './logged-request.ts'
import type { Reason } from './unjudged-reasons.ts'

/** The tables and Seats that the requests are decided with. */
export interface ReplaySubject {
  readonly tables: Tables
  readonly seats: SeatSource
  /** The tenant of a file of Seats, which identifies them by name; null if the Seats are from the store. */
  readonly onlyTenant: string | null
  /** The tenants of the configuration. */
  readonly tenants: { has(id: string): boolean }
  /** The limit of a request target. */
  readonly targetBytes: number
}

export interface Verdict {
  readonly to: string
  /** The id of the entry that matches; null if none does. */
  readonly route: string | null
}

const NOT_READ = new Refusal('credentials_missing', 'The line has no credential.')

export class Judge {
  readonly #subject: ReplaySubject
  readonly #engine: OfflineEngine
  /** Whether a route reads its space elsewhere than from the header Space. */
  readonly #hasSources: boolean

  constructor(subject: ReplaySubject) {
    this.#hasSources = subject.tables.table.routes.some(({ space }) => !isSpaceHeader(space))
    this.#subject = subject
    this.#engine = new OfflineEngine(subject.tables, subject.seats, subject.targetBytes)
  }

  /** Judges a request; synchronous if all Seats are in memory. Rejects if the store cannot be asked. */
  judge(request: LoggedRequest): Verdict | Reason | Promise<Verdict | Reason> {
    if (!this.#asksTables(request)) return { to: 'request_malformed', route: null }
    const decided = this.#decide(request)
    if (typeof decided === 'string') return decided
    if (decided instanceof Promise) return decided.then((evaluation) => this.#conclude(request, evaluation))
    return this.#conclude(request, decided)
  }

  /** The whole decision on a request. Rejects if the store cannot be asked. */
  async evaluate(request: LoggedRequest): Promise<Evaluation | Reason> {
    if (!this.#asksTables(request)) return 'not_decided'
    const evaluation = await this.#decide(request)
    if (typeof evaluation === 'string') return evaluation
    const verdict = this.#conclude(request, evaluation)
    return typeof verdict === 'string' ? verdict : evaluation
  }

  /** Whether the tables decide; not if the target is no path or names another host, or for other methods. */
  #asksTables({ method, code, permission }: LoggedRequest): boolean {
    return this.#subject.tables.methods.has(method) && (code !== 'request_malformed' || permission !== null)
  }

  #decide(request: LoggedRequest): Evaluation | Reason | Promise<Evaluation> {
    const { method, path, call } = request
    const caller = this.#callerOf(request)
    const route = this.#routeOf(request)
    if (typeof route === 'string') return route
    const said = saidSpace(request, route)
    if (said === null) return 'space_not_logged'
    const { lines: space, field, query } = said
    const { host = null } = request
    return this.#engine.decide({
      method,
      target: path + query,
      host,
      call: call ?? undefined,
      caller,
      space,
      field,
    })
  }

  /** The route, if hosts or sources of a space make a difference. */
  #routeOf({ method, path, host, call, spaceBy }: LoggedRequest): Route | null | Reason {
    const { table } = this.#subject.tables
    if (host === undefined && table.hosts !== null) return 'host_not_logged'
    if (!this.#hasSources && spaceBy === null) return null
    const named = host == null ? null : canonicalHost(host)
    const match = table.match(method, path, named)?.route ?? null
    const route = match === null ? null : decidingRoute(match, call ?? undefined)
    return host === undefined && route?.space.kind === 'host_label' ? 'host_not_logged' : route
  }

  #conclude(request: LoggedRequest, { decision, refusal }: Evaluation): Verdict | Reason {
    const { code: to, route, permission, principal } = decision
    if (request.code === 'uri_too_long' && to !== 'uri_too_long') return 'target_not_logged'
    if (refusal === NOT_READ) return 'credential_not_read'
    if (request.caller !== null && principal !== null) {
      const { tenants } = this.#subject
      if (!tenants.has(principal.tenant)) return 'tenant_not_configured'
      const dependsOnSpace = permission !== null && needsPermission(permission)
      // The request was refused before its space counted: it had none, a malformed one, or the line is of an
      // older version.
      if (
        dependsOnSpace &&
        request.code === 'tenant_mismatch' &&
        request.space === null &&
        to !== request.code
      )
        return 'space_not_logged'
      const dependsOnSeats = dependsOnSpace && decision.space !== null
      const gap = dependsOnSeats ? this.#gapOf(request.caller, to) : null
      if (gap !== null) return gap
    }
    return { to, route: route?.id ?? null }
  }

  /** What the line lacks for a decision by Seats; null if nothing. */
  #gapOf({ tenant, seats: { by, names, truncated } }: LoggedCaller, to: string): Reason | null {
    const { onlyTenant } = this.#subject
    if (by === null) return 'seats_not_logged'
    if (onlyTenant !== null && onlyTenant !== tenant) return 'other_tenant'
    if (onlyTenant !== null && names === null) return 'seat_names_not_logged'
    // One granting Seat is enough, whatever the others are.
    return truncated && to !== 'allow' ? 'seats_truncated' : null
  }

  #callerOf({ code, permission, space, caller }: LoggedRequest): Principal | Refusal {
    // A user who was blocked counts as blocked on every route that requires a credential.
    if (caller !== null && code !== 'caller_blocked') {
      const claims = this.#claimsOf(caller, space)
      const { tenant, user, method } = caller
      const subject = { tenant, user, email: null, owner: null, issuedAt: Infinity }
      return { method, ...subject, claims, session: null, validUntil: null }
    }
    // A refused credential is refused on every route that requires one.
    const wasRead = permission !== null && permission !== 'public'
    return wasRead ? new Refusal(code as ErrorCode, '') : NOT_READ
  }

  #claimsOf({ seats }: LoggedCaller, space: string | null): SeatClaims {
    const { by, issuedAt, ids } = seats
    const names = seats.names ?? NOTHING
    if (by === 'id' && this.#subject.onlyTenant === null) return { by, seats: ids }
    if (by === 'name' || by === null) {
      const entries = new Map(space === null || names.length === 0 ? [] : [[space, names]])
      return { by: 'name', entries, issuedAt }
    }
    return { by: 'any-space', names, issuedAt }
  }
}

const NOTHING: readonly string[] = Object.freeze([])
const REPEATED: readonly string[] = Object.freeze(['', ''])
const MALFORMED: readonly string[] = Object.freeze(['?'])
/** Some other space: the line lacks the one that the header named. */
const OTHER: readonly string[] = Object.freeze(['some-other-space'])

/**
 * What the request said about its space, for a decision by another source than the former one.
 *
 * @param route the route that matches now; null: none
 * @returns null if the line does not tell it
 */
function saidSpace(logged: LoggedRequest, route: Route | null) {
  const { code, space, spaceBy, caller } = logged
  const source = route?.space ?? SPACE_HEADER
  const lines = spaceLines(logged)
  const isDecisive = caller !== null && route !== null && needsPermission(route.requirement)
  if (isDecisive && code !== 'request_malformed' && !isTold(source, logged)) return null
  const named = space === null || spaceBy !== source.kind ? NOTHING : [space]
  const [value] = named
  const query = source.kind === 'query' && value !== undefined ? `?${source.name}=${value}` : ''
  return {
    // The lines of the header `Space`.
    lines,
    // The lines of another header that the route names.
    field: source.kind === 'header' ? named : NOTHING,
    // The query with its `?`; '' if there is none.
    query,
  }
}

/** Whether the line has what the source reads. Every line has path and host. */
function isTold(source: SpaceSource, { code, spaceBy }: LoggedRequest): boolean {
  if (isSpaceHeader(source)) return spaceBy === null
  if (source.kind === 'query' || source.kind === 'header') return spaceBy === source.kind
  return code !== 'space_conflict' || spaceBy !== null
}

/** The Space lines. In a malformed request, Space is repeated; or no space id, if the caller is known. */
function spaceLines({ code, space, spaceBy, caller }: LoggedRequest): readonly string[] {
  if (code === 'request_malformed') return caller === null ? REPEATED : MALFORMED
  if (code === 'space_conflict') return OTHER
  return space === null || spaceBy !== null ? NOTHING : [space]
}
