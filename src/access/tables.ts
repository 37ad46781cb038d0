/** A route table with the settings that also decide which requests it answers. */

import type { Config } from '../config/config.ts'
import { methodsOf } from '../config/methods.ts'
import { ambiguityOf } from '../decision/router/ambiguity.ts'
import { exceptionsOf, type PathExceptions } from '../decision/router/pattern.ts'
import { readTarget, type RequestTarget } from '../decision/router/path.ts'
import type { Match, RouteTable } from '../decision/router/table.ts'
import { type Leaf, pick } from '../decision/router/tree.ts'
import { Refusal } from '../model/errors.ts'
import { hostMatches } from '../model/host.ts'
import { type McpCall, namesIn } from '../model/mcp.ts'
import type { Route } from '../model/route.ts'
import { type Mark, unusedText } from './path-classes.ts'

export interface Tables {
  readonly table: RouteTable
  /** The accepted request methods. */
  readonly methods: ReadonlySet<string>
  readonly upstreams: ReadonlyMap<string, PathExceptions>
}

export function tablesOf(config: Pick<Config, 'methods' | 'upstreams'>, table: RouteTable): Tables {
  return { table, methods: methodsOf(config), upstreams: config.upstreams }
}

/** Methods in the order of preference: of those that no entry names, one stands for all. */
const USUAL_METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'HEAD']
/** The methods that the gateway does not serve. */
const UNSERVED = new Set(['CONNECT', 'TRACE'])

/**
 * One method of each kind that leaves and accepted methods tell apart. Without an entry, HEAD is like GET.
 */
export function methodsAt(leaves: readonly Leaf[], sides: readonly Tables[]): string[] {
  const named = new Set(leaves.flatMap((leaf) => [...leaf.methods.keys()]))
  const accepted = sides.map(({ methods }) => methods)
  const every = accepted.reduce((one, other) => one.union(other)).difference(UNSERVED)
  const common = accepted.reduce((one, other) => one.intersection(other))
  const unnamed = [...USUAL_METHODS, ...every].filter((method) => every.has(method) && !named.has(method))
  const kinds = [unnamed.find((method) => common.has(method)), ...unnamed.filter((each) => !common.has(each))]
  return [...new Set([...named, ...kinds.filter((method) => method !== undefined)])].sort(
    (one, other) => rank(one) - rank(other) || (one < other ? -1 : 1),
  )
}

function rank(method: string): number {
  const at = USUAL_METHODS.indexOf(method)
  return at < 0 ? USUAL_METHODS.length : at
}

/**
 * One canonical host of each class that the tables cannot tell apart: each name that one of them has, each
 * wildcard without the names, and all others. Null stands for all hosts that no table names, and for requests
 * without a host.
 *
 * @param more names besides those of the tables; `*.` stands for one label
 */
export function hostClasses(sides: readonly Tables[], more: readonly string[] = []): (string | null)[] {
  const names = new Set([...sides.flatMap(({ table }) => table.hosts?.names ?? []), ...more])
  return [
    null,
    ...[...names].map((name) => (name.startsWith('*.') ? unusedText(names, name.slice(1)) : name)),
  ]
}

/** The classes that a name or wildcard is about. */
export function hostClassesOf(
  sides: readonly Tables[],
  name: string,
  more: readonly string[] = [],
): string[] {
  return hostClasses(sides, [name, ...more]).flatMap((host) =>
    host !== null && hostMatches(name, host) ? host : [],
  )
}

/** A target, as the gateway reads it. */
export function targetOf(path: string): RequestTarget {
  const target = readTarget(path, null, Infinity)
  if (target instanceof Refusal) throw new Error(`${path}: ${target.detail}`)
  return target
}

/** The entry that answers; null if none does. @param leaves the leaves of the path, in order of precedence */
export function entryFor(
  side: Tables,
  leaves: readonly Leaf[],
  method: string,
  target: RequestTarget,
): Route | null {
  if (!side.methods.has(method)) return null
  for (const leaf of leaves) {
    const placed = pick(leaf, method)
    if (placed === null) continue
    const { route } = placed
    if (route === null) return null
    return ambiguityOf(target, route, exceptionsOf(side.upstreams, route)) === null ? route : null
  }
  return null
}

/**
 * The entry for one request; null if the gateway refuses it.
 *
 * @param host canonical; null: it names none
 * @param call what it calls of an MCP server; left out: nothing
 */
export function answeringEntry(
  side: Tables,
  method: string,
  target: RequestTarget,
  host: string | null,
  call?: McpCall,
): Match | null {
  if (!side.methods.has(method)) return null
  const match = side.table.match(method, target.path, host)
  if (match === null) return null
  const { route } = match
  if (route.target.kind === 'public' && route.target.handler === null) return null
  if (ambiguityOf(target, route, exceptionsOf(side.upstreams, route)) !== null) return null
  const line = decidingRoute(route, call)
  return line === null ? null : { ...match, route: line }
}

/** The line of a call, or the route itself; null: the call has no line. */
export function decidingRoute(route: Route, call: McpCall | undefined): Route | null {
  if (route.target.kind !== 'mcp') return route
  const [name] = call === undefined ? [] : namesIn(call)
  return name === undefined ? null : route.target.endpoint.find(name.kind, name.name)
}

/** The texts in paths that some upstream accepts and another does not; none if no upstream accepts any. */
export function marksOf(sides: readonly Tables[]): Mark[] {
  const all = sides.flatMap(({ upstreams }) => [...upstreams.values()])
  return MARKS.filter(({ isAccepted }) => all.some(isAccepted))
}

const MARKS = [
  {
    suffix: ';',
    isIn: (path: string) => targetOf(path).semicolon,
    isAccepted: ({ allowSemicolons }: PathExceptions) => allowSemicolons,
  },
  {
    suffix: '%2F',
    isIn: (path: string) => targetOf(path).encodedSlash,
    isAccepted: ({ allowEncodedSlashes }: PathExceptions) => allowEncodedSlashes,
  },
]
