/**
 * The compiled route table: a tree of segments, so that a lookup costs the path's depth, not the number of routes. At
 * each segment a static one beats `{param}`, which beats `*`; an entry that lacks the method gives way to the next that
 * has it.
 */

import type { RouteEntry } from '../../config/config.ts'
import type { Fault } from '../../config/faults.ts'
import { PathParams } from '../../model/decision.ts'
import type { Route } from '../../model/route.ts'
import { fallbacks } from './fallback.ts'
import { overlaps } from './overlap.ts'
import { covers, type PathLeave, type Pattern, readPattern, restMeets } from './pattern.ts'
import { allowedMethods, find, insert, Node } from './tree.ts'

export interface Match {
  readonly route: Route
  readonly params: PathParams
}

export class RouteTable {
  /** In the order of the tables, built-in ones last. */
  readonly routes: readonly Route[]
  readonly #root: Node

  constructor(routes: readonly Route[], root: Node) {
    this.routes = routes
    this.#root = root
  }

  /** @param path normalised */
  match(method: string, path: string): Match | null {
    // TRACE sends a request's credentials back to whoever asked (RFC 9110, section 9.3.8): no entry stands for it.
    if (method === 'TRACE') return null
    const values: string[] = []
    const placed = find(this.#root, method, path, 1, values)
    if (placed === null || placed.route === null) return null
    return { route: placed.route, params: new PathParams(placed.names, values) }
  }

  /** Methods that some entry takes at this path; empty when none matches it at all. For `Allow` (RFC 9110, section 10.2.1). */
  allowedMethods(path: string): string[] {
    return allowedMethods(this.#root, path)
  }
}

/** What the table needs to know of an upstream. */
type Upstreams = ReadonlyMap<string, PathLeave>

const NO_LEAVE: PathLeave = Object.freeze({ allowSemicolons: false, allowEncodedSlashes: false })

export interface Compiled {
  readonly table: RouteTable
  readonly faults: readonly Fault[]
  /** What is no fault, but may not be what was meant. */
  readonly warnings: readonly Fault[]
}

/**
 * @param builtIn routes that the gateway serves itself; no entry may take their paths
 */
export function compileTable(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
): Compiled {
  const root = new Node()
  const faults: Fault[] = []
  const taken = [...new Set(builtIn.map((route) => route.path))].map(trustedPattern)
  const routes: Route[] = []
  const patterns: Pattern[] = []
  for (const entry of entries) {
    const placed = place(root, entry, upstreams, taken)
    if (typeof placed === 'string') {
      faults.push({ place: entry.place, message: `${entry.method} ${entry.path}: ${placed}` })
    } else {
      routes.push(placed.route)
      patterns.push(placed.pattern)
    }
  }
  // Before the built-in routes are in: entries can't cross them, as nothing of a table answers there.
  const warnings = [
    ...overlaps(root, routes, patterns),
    ...fallbacks(root, routes, patterns),
    ...foreignParams(routes, patterns),
  ]
  for (const route of builtIn) {
    insert(root, trustedPattern(route.path), route)
    routes.push(route)
  }
  return { table: new RouteTable(Object.freeze(routes), root), faults, warnings }
}

/** Puts the entry into the tree; or says in a sentence why it can't be there. */
function place(
  root: Node,
  entry: RouteEntry,
  upstreams: Upstreams,
  taken: readonly Pattern[],
): { route: Route; pattern: Pattern } | string {
  const pattern = readPattern(entry.path, upstreams.get(entry.upstream) ?? NO_LEAVE)
  if (typeof pattern === 'string') return pattern
  if (taken.some((each) => covers(each, pattern) || restMeets(pattern, each))) return COLLISION
  const route = routeOf(entry)
  const twin = insert(root, pattern, route)
  return twin === null ? { route, pattern } : `matches the same requests as ${twin.id}${at(twin)}`
}

/** `:id` as in Express and others is no parameter here: a segment that is matched as it is written. */
function foreignParams(routes: readonly Route[], patterns: readonly Pattern[]): Fault[] {
  return routes.flatMap(({ id, place }, index) => {
    const names = (patterns[index]?.segments ?? []).flatMap((each) =>
      each.kind === 'static' ? (/^:([A-Za-z_]\w*)$/.exec(each.text)?.[1] ?? []) : [],
    )
    if (place === null || names.length === 0) return []
    const told = names.map((name) => `":${name}" is matched as it is written; a parameter is {${name}}`)
    return [{ place, message: `${id}: ${told.join('; ')}` }]
  })
}

const COLLISION = 'collides with a built-in path: the gateway answers there itself'

function trustedPattern(path: string): Pattern {
  const pattern = readPattern(path, NO_LEAVE)
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

function at(route: Route): string {
  return route.place === null ? '' : ` (${route.place.file}:${route.place.line})`
}
