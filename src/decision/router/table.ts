/**
 * The compiled route table: a tree of segments. A lookup costs the depth of the path, not the number of routes. At each
 * segment, a static one beats `{param}`, which beats `*`. An entry that lacks the method gives way to the next that has
 * it.
 */

import type { RouteEntry } from '../../config/config.ts'
import type { Fault, Warning } from '../../config/faults.ts'
import { PathParams } from '../../model/decision.ts'
import type { Route } from '../../model/route.ts'
import { fallbacks } from './fallback.ts'
import { overlaps } from './overlap.ts'
import {
  covers,
  NO_EXCEPTIONS,
  type PathExceptions,
  type Pattern,
  readPattern,
  restEqualsParams,
} from './pattern.ts'
import { allowedMethods, find, insert, Node } from './tree.ts'

export interface Match {
  readonly route: Route
  readonly params: PathParams
}

export class RouteTable {
  /** In the order of the tables; built-in routes last. */
  readonly routes: readonly Route[]
  /** For questions about all requests at once; see `access/`. */
  readonly root: Node

  constructor(routes: readonly Route[], root: Node) {
    this.routes = routes
    this.root = root
  }

  /** @param path normalised */
  match(method: string, path: string): Match | null {
    // A response to TRACE repeats the request's credentials (RFC 9110, section 9.3.8): no entry matches it.
    if (method === 'TRACE') return null
    const values: string[] = []
    const placed = find(this.root, method, path, 1, values)
    if (placed === null || placed.route === null) return null
    return { route: placed.route, params: new PathParams(placed.names, values) }
  }

  /** Methods of all entries that match the path; empty: no entry matches. For `Allow` (RFC 9110, section 10.2.1). */
  allowedMethods(path: string): string[] {
    return allowedMethods(this.root, path)
  }
}

type Upstreams = ReadonlyMap<string, PathExceptions>

export interface Compiled {
  readonly table: RouteTable
  readonly faults: readonly Fault[]
  /** Legal entries that may be unintentional. */
  readonly warnings: readonly Warning[]
}

/** @param builtIn routes that the gateway serves itself; entries can't use their paths */
export function compileTable(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
): Compiled {
  const root = new Node()
  const faults: Fault[] = []
  const builtInPatterns = [...new Set(builtIn.map((route) => route.path))].map(trustedPattern)
  const routes: Route[] = []
  const patterns: Pattern[] = []
  for (const entry of entries) {
    const placed = place(root, entry, upstreams, builtInPatterns)
    if (typeof placed === 'string') {
      faults.push({ place: entry.place, message: `${entry.method} ${entry.path}: ${placed}` })
    } else {
      routes.push(placed.route)
      patterns.push(placed.pattern)
    }
  }
  // Before the built-in routes are added: entries can't cross them, as nothing else matches there.
  const warnings = [
    ...overlaps(root, routes, patterns),
    ...fallbacks(root, routes, patterns),
    ...foreignParams(routes, patterns),
    ...publicEverything(routes),
  ]
  return { table: withBuiltIn(root, routes, builtIn), faults, warnings }
}

/**
 * The table of entries that have compiled before, one entry a step, without the search for warnings.
 *
 * @throws where they have not
 */
export function* compiledTable(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
): Generator<null, RouteTable> {
  const root = new Node()
  const routes: Route[] = []
  for (const entry of entries) {
    const placed = place(root, entry, upstreams, [])
    if (typeof placed === 'string') throw new Error(`${entry.method} ${entry.path}: ${placed}`)
    routes.push(placed.route)
    yield null
  }
  return withBuiltIn(root, routes, builtIn)
}

function withBuiltIn(root: Node, routes: readonly Route[], builtIn: readonly Route[]): RouteTable {
  for (const route of builtIn) insert(root, trustedPattern(route.path), route)
  return new RouteTable(Object.freeze([...routes, ...builtIn]), root)
}

/** Inserts the entry; returns a sentence where it can't. */
function place(
  root: Node,
  entry: RouteEntry,
  upstreams: Upstreams,
  builtInPatterns: readonly Pattern[],
): { route: Route; pattern: Pattern } | string {
  const pattern = readPattern(entry.path, upstreams.get(entry.upstream) ?? NO_EXCEPTIONS)
  if (typeof pattern === 'string') return pattern
  if (builtInPatterns.some((each) => covers(each, pattern) || restEqualsParams(pattern, each)))
    return COLLISION
  const route = routeOf(entry)
  const duplicate = insert(root, pattern, route)
  return duplicate === null
    ? { route, pattern }
    : `matches the same requests as ${duplicate.id}${placeOf(duplicate)}`
}

/** `:id`, a parameter in Express and others, is a static segment here. */
function foreignParams(routes: readonly Route[], patterns: readonly Pattern[]): Warning[] {
  return routes.flatMap(({ id, place }, index) => {
    const names = (patterns[index]?.segments ?? []).flatMap((each) =>
      each.kind === 'static' ? (/^:([A-Za-z_]\w*)$/.exec(each.text)?.[1] ?? []) : [],
    )
    if (place === null || names.length === 0) return []
    const hints = names.map((name) => `":${name}" is a static segment; write a parameter as {${name}}`)
    return [{ code: 'foreign_parameter', place, message: `${id}: ${hints.join('; ')}` }]
  })
}

function publicEverything(routes: readonly Route[]): Warning[] {
  return routes.flatMap(({ id, path, requirement, place }) => {
    if (path !== '/*' || requirement !== 'public' || place === null) return []
    const message = `${id}: public: every path that no other entry matches needs no credential, those of new endpoints too`
    return [{ code: 'public_everything', place, message }]
  })
}

const COLLISION = 'collides with a built-in path, which the gateway serves itself'

function trustedPattern(path: string): Pattern {
  const pattern = readPattern(path, NO_EXCEPTIONS)
  if (typeof pattern === 'string') throw new Error(`${path}: ${pattern}`)
  return pattern
}

function routeOf(entry: RouteEntry): Route {
  return Object.freeze({
    id: `${entry.method} ${entry.path}`,
    method: entry.method,
    path: entry.path,
    requirement: entry.requirement,
    target: Object.freeze({ kind: 'upstream', name: entry.upstream }),
    maxBody: entry.maxBody,
    responseTimeout: entry.responseTimeout,
    signIn: entry.signIn,
    place: entry.place,
  })
}

function placeOf(route: Route): string {
  return route.place === null ? '' : ` (${route.place.file}:${route.place.line})`
}
