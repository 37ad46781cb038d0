/** Proves assertions about all possible requests, or finds a request that refutes one. */

import { EVERY_PERMISSION, holds } from '../../seats-admin/model/permission.ts'
import type { SeatInput } from '../../seats-admin/model/seat.ts'
import type { RequestPattern } from '../config/policy-file.ts'
import { type PathExceptions, readPattern } from '../decision/router/pattern.ts'
import { RouteTable } from '../decision/router/table.ts'
import { insert, Node } from '../decision/router/tree.ts'
import { hostMatches } from '../model/host.ts'
import { needsPermission, type Route, takesTenant, UNSCOPED } from '../model/route.ts'
import type { Witness } from './difference.ts'
import { decidingRoutes } from './mcp-lines.ts'
import { pathClasses } from './path-classes.ts'
import { entryFor, hostClasses, hostClassesOf, marksOf, methodsAt, type Tables, targetOf } from './tables.ts'

/** A request that refutes an assertion. */
interface Counterexample extends Witness {
  readonly route: Route
  /** The name of a Seat that grants it; null if none is required. */
  readonly seat: string | null
}

/** The result for an assertion, and the routes that it is about. */
export interface Proof {
  /** The refutation; null if the assertion holds. */
  readonly counterexample: Counterexample | null
  readonly reached: ReadonlySet<Route>
}

const ALL_ACCEPTED: PathExceptions = { allowSemicolons: true, allowEncodedSlashes: true }

/** Why an assertion would prove nothing. @returns null if an entry answers some request of the pattern */
export function patternFault(
  { method, path, hosts }: RequestPattern,
  tables: Tables,
  host: string | null,
): string | null {
  const { methods } = tables
  if (method !== 'ANY' && !methods.has(method)) return `the gateway does not accept the method ${method}`
  const pattern = readPattern(path, ALL_ACCEPTED)
  if (typeof pattern === 'string') return pattern
  const { done } = requestsWithin(tables, [{ method, path, hosts }], host).next()
  return done ? 'no entry of the route tables answers such a request' : null
}

/**
 * Proves that among the callers of a tenant, only holders of these Seats get answers from an upstream.
 *
 * @param names the names of the Seats
 * @param host null: every host
 */
export function proveOnly(
  tables: Tables,
  { tenant, seats }: { readonly tenant: string; readonly seats: readonly SeatInput[] },
  names: readonly string[],
  may: RequestPattern,
  host: string | null = null,
): Proof {
  const others = seats.filter(({ name, spaces }) => spaces.length > 0 && !names.includes(name))
  const holders = holdersOf(others)
  const reached = new Set<Route>()
  let counterexample: Counterexample | null = null
  for (const { route, method, path, witness } of requestsWithin(tables, [may], host)) {
    reached.add(route)
    if (counterexample !== null || !takesTenant(route, tenant)) continue
    const free = !needsPermission(route.requirement)
    // No entry of a table can close the endpoints of sign-in.
    if (free && route.place === null) continue
    const seat = free ? null : holders(route.requirement)
    if (free || seat !== null) counterexample = { route, method, ...witness, path, seat }
  }
  return { counterexample, reached }
}

/** The first Seat that holds a permission; null if none does. */
function holdersOf(seats: readonly SeatInput[]): (permission: string) => string | null {
  const first = new Map<string, string>()
  for (const { name, permissions } of seats)
    for (const each of permissions) if (!first.has(each)) first.set(each, name)
  return (permission) => {
    const held = new Set([permission, EVERY_PERMISSION].filter((each) => first.has(each)))
    return holds(held, permission) ? (first.get(permission) ?? first.get(EVERY_PERMISSION) ?? null) : null
  }
}

/** Proves that no request outside these patterns is public, except those of built-in paths. */
export function provePublic(
  tables: Tables,
  patterns: readonly RequestPattern[],
  host: string | null = null,
): Proof {
  const reached = new Set<Route>()
  let counterexample: Counterexample | null = null
  for (const { route, method, path, witness, isWithin } of requests(tables, patterns, host)) {
    if (route.requirement !== 'public' || route.place === null) continue
    if (isWithin) reached.add(route)
    else counterexample ??= { route, method, ...witness, path, seat: null }
  }
  return { counterexample, reached }
}

function* requestsWithin(tables: Tables, patterns: readonly RequestPattern[], host: string | null) {
  for (const request of requests(tables, patterns, host)) if (request.isWithin) yield request
}

/** One request for each class that an entry answers, built-in ones included, and whether a pattern has it. */
function* requests(tables: Tables, patterns: readonly RequestPattern[], only: string | null) {
  const names = patterns.flatMap(({ hosts }) => hosts)
  const met = new Map<Node, Set<string>>()
  for (const host of only === null ? hostClasses([tables], names) : hostClassesOf([tables], only, names)) {
    const root = tables.table.rootOf(host)
    const here = patterns.filter(({ hosts }) => hosts.length === 0 || hosts.some((name) => isAt(name, host)))
    const keys = met.get(root) ?? new Set()
    const key = here.map((pattern) => patterns.indexOf(pattern)).join(' ')
    if (keys.has(key)) continue
    met.set(root, keys.add(key))
    const within = patternTables(tables, here)
    const witness = host === null ? {} : { host }
    for (const { path, leaves } of pathClasses([root, within.table.root], { marks: marksOf([tables]) })) {
      const target = targetOf(path)
      for (const method of methodsAt(leaves.flat(), [tables, within])) {
        const route = entryFor(tables, leaves[0] ?? [], method, target)
        const isWithin = entryFor(within, leaves[1] ?? [], method, target) !== null
        if (route === null) continue
        for (const each of decidingRoutes(route)) {
          const request = each.mcp === undefined ? { method, path } : { method: each.method, path: each.path }
          yield { route: each, ...request, witness, isWithin }
        }
      }
    }
  }
}

function isAt(name: string, host: string | null): boolean {
  return host !== null && hostMatches(name, host)
}

function patternTables({ methods }: Tables, patterns: readonly RequestPattern[]): Tables {
  const root = new Node()
  const routes: Route[] = []
  for (const { method, path } of patterns) {
    const pattern = readPattern(path, ALL_ACCEPTED)
    if (typeof pattern === 'string') continue
    const route: Route = {
      id: `${method} ${path}`,
      method,
      path,
      ...UNSCOPED,
      requirement: 'public',
      target: { kind: 'upstream', name: PATTERN },
      maxBody: Infinity,
      responseTimeout: null,
      signIn: null,
      cors: null,
      place: { file: '', line: 1, column: 1 },
    }
    insert(root, pattern, route)
    routes.push(route)
  }
  return { table: new RouteTable(routes, root), methods, upstreams: new Map([[PATTERN, ALL_ACCEPTED]]) }
}

const PATTERN = 'pattern'
