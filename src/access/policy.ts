/** Checks policy tests: cases are decided, assertions are proved. */

import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { Fault } from '../config/faults.ts'
import { didYouMean, quote } from '../config/invalid-value.ts'
import type { PolicyAssertion, PolicyCase, PolicyFile } from '../config/policy-file.ts'
import type { Decision } from '../model/decision.ts'
import { Refusal } from '../model/errors.ts'
import type { Principal } from '../model/principal.ts'
import type { Route } from '../model/route.ts'
import type { RouteTable } from '../decision/router/table.ts'
import { type RequestQuestion, requestOfQuestion } from './mcp-questions.ts'
import { patternFault, proveOnly, provePublic } from './assertions.ts'
import { OfflineEngine, seatsByName } from './offline-engine.ts'
import type { Tables } from './tables.ts'

/** The tables and Seats that a policy is checked with. */
interface PolicySubject {
  readonly tables: Tables
  /** The Seats of the policy's tenant. */
  readonly seats: readonly SeatInput[]
  /** The limit of a request target. */
  readonly targetBytes: number
}

/**
 * The faults that would let a policy pass without a check: no case and no assertion, a Seat that does not
 * exist, a pattern that matches no request or no entry, a method that the gateway does not accept.
 */
export function faultsOfPolicy(
  { file, cases, assertions }: PolicyFile,
  { tables, seats }: Pick<PolicySubject, 'tables' | 'seats'>,
): Fault[] {
  if (cases.length + assertions.length === 0) {
    const place = { file, line: 1, column: 1 }
    return [{ place, message: 'the file has no case and no assertion: it checks nothing' }]
  }
  const names = new Set(seats.map(({ name }) => name))
  const unknown = (named: readonly string[] | null) => (named ?? []).filter((name) => !names.has(name))
  const inCases = cases.flatMap(({ place, method, target, host, seats: named }) => [
    ...faultsOfRequest(requestOfQuestion(tables.table, { method, target, host }), tables).map((message) => ({
      place,
      message,
    })),
    ...unknown(named).map((name) => ({ place, message: unknownSeat(name, names) })),
  ])
  const inAssertions = assertions.flatMap((assertion) => {
    const { place, host } = assertion
    const patterns = assertion.kind === 'only' ? [assertion.may] : assertion.patterns
    const named = assertion.kind === 'only' ? assertion.seats : []
    return [
      ...unknown(named).map((name) => ({ place, message: unknownSeat(name, names) })),
      ...patterns.flatMap((pattern) => {
        const fault = patternFault(pattern, tables, host)
        return fault === null
          ? []
          : [{ place, message: `"${pattern.method} ${pattern.hosts.join()}${pattern.path}": ${fault}` }]
      }),
    ]
  })
  return [...inCases, ...inAssertions]
}

function faultsOfRequest(request: RequestQuestion | Refusal, { methods }: Tables): string[] {
  if (request instanceof Refusal) return [request.detail]
  return methods.has(request.method) ? [] : [`the gateway does not accept the method ${request.method}`]
}

function unknownSeat(name: string, names: Iterable<string>): string {
  return `there is no Seat ${quote(name)}${didYouMean(name, names)}`
}

export type CaseResult = ReturnType<typeof decide>
export type AssertionResult = ReturnType<typeof prove>
export type PolicyResult = ReturnType<typeof checkPolicy>

/** The results; `reached` has the routes that a case or an assertion is about. */
export function checkPolicy({ tenant, cases, assertions }: PolicyFile, subject: PolicySubject) {
  const { tables, seats, targetBytes } = subject
  const engine = new CaseEngine(tables, tenant, seats, targetBytes)
  const reached = new Set<Route>()
  const decided = cases.map((each) => decide(each, engine, reached))
  const proved = assertions.map((each) => prove(each, tenant, subject, reached))
  return { cases: decided, assertions: proved, reached }
}

function decide({ place, expect, ...request }: PolicyCase, engine: CaseEngine, reached: Set<Route>) {
  const { code, route } = engine.decide(request)
  if (route !== null) reached.add(route)
  const { method, target, host } = request
  const { file, line } = place
  const named = host === null ? {} : { host }
  return { file, line, request: `${method} ${target}`, ...named, expect, got: code, ok: code === expect }
}

function prove(
  assertion: PolicyAssertion,
  tenant: string,
  { tables, seats }: PolicySubject,
  reached: Set<Route>,
) {
  const proof =
    assertion.kind === 'only'
      ? proveOnly(tables, { tenant, seats }, assertion.seats, assertion.may, assertion.host)
      : provePublic(tables, assertion.patterns, assertion.host)
  for (const route of proof.reached) reached.add(route)
  const { file, line } = assertion.place
  const { counterexample } = proof
  if (counterexample === null) return { file, line, ok: true }
  const { method, host, path, route, seat } = counterexample
  const named = host === undefined ? {} : { host }
  const shown = { request: `${method} ${path}`, ...named, route: route.id, seat }
  return { file, line, ok: false, counterexample: shown }
}

const missing = new Refusal('credentials_missing', 'The request has no credential.')

/** Decides made-up requests of callers with given Seats. */
export class CaseEngine {
  /** The spaces by name of the Seat. */
  readonly #spaces: ReadonlyMap<string, readonly string[]>
  readonly #tenant: string
  readonly #table: RouteTable
  readonly #engine: OfflineEngine

  /**
   * Makes an engine.
   *
   * @param tenant the tenant of every caller
   * @param targetBytes the limit of a request target
   */
  constructor(tables: Tables, tenant: string, seats: readonly SeatInput[], targetBytes: number) {
    this.#tenant = tenant
    this.#table = tables.table
    this.#spaces = new Map(seats.map(({ name, spaces }) => [name, spaces]))
    this.#engine = new OfflineEngine(tables, seatsByName(seats), targetBytes)
  }

  decide({ method, target, host, seats, space }: Omit<PolicyCase, 'place' | 'expect'>): Decision {
    const caller = seats === null ? missing : this.#holderOf(seats, space)
    const request = requestOfQuestion(this.#table, { method, target, host })
    if (request instanceof Refusal) throw new Error(request.detail)
    const evaluation = this.#engine.decide({
      ...request,
      caller,
      space: space === null ? [] : [space],
    })
    if (evaluation instanceof Promise) throw new Error('all Seats are in memory')
    return evaluation.decision
  }

  /** The principal of a minted token. The token names an unknown Seat in the space of the request. */
  #holderOf(names: readonly string[], space: string | null): Principal {
    const entries = new Map<string, string[]>()
    for (const name of new Set(names))
      for (const each of new Set(this.#spaces.get(name) ?? (space === null ? [] : [space])))
        entries.set(each, [...(entries.get(each) ?? []), name])
    const claims = { by: 'name', entries, issuedAt: Infinity } as const
    const tenant = this.#tenant
    const subject = { tenant, user: '', email: null, owner: null, issuedAt: Infinity }
    return { method: 'bearer', ...subject, claims, session: null, validUntil: null }
  }
}
