/**
 * The compiled route table: a tree of segments, so that a lookup costs the path's depth, not the number of routes.
 * At each segment a static one beats `{param}`, which beats `*`; an entry that lacks the method gives way to the next
 * that has it. Built at load by the gateway and by `seatgate check`; asked by the pipeline.
 */

import type { RouteEntry } from '../config/config.ts'
import type { Fault } from '../config/faults.ts'
import type { Route } from '../exchange.ts'
import { covers, type Pattern, readPattern, type Segment } from './pattern.ts'

export interface Match {
  readonly route: Route
  readonly params: Readonly<Record<string, string>>
}

interface Leaf {
  readonly methods: Map<string, Placed>
  any: Placed | null
}

/** A route in the tree, with the names its variable segments go by. */
interface Placed {
  /** Null only in {@link NOT_ALLOWED}. */
  readonly route: Route | null
  readonly names: readonly string[]
}

class Node {
  readonly statics = new Map<string, Node>()
  param: Node | null = null
  leaf: Leaf | null = null
  rest: Leaf | null = null
}

/** What `ANY` is spelled out as in `Allow`. */
const COMMON_METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({})

/** Stands at a built-in path for the methods it doesn't take, so that no wider entry of a table answers there. */
const NOT_ALLOWED: Placed = Object.freeze({ route: null, names: [] })

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
    const placed = walk(this.#root, method, path, 1, values)
    if (placed === null || placed.route === null) return null
    return { route: placed.route, params: named(placed.names, values) }
  }

  /** Methods that some entry takes at this path; empty when none matches it at all. For `Allow` (RFC 9110, section 10.2.1). */
  allowedMethods(path: string): string[] {
    const found = new Set<string>()
    gather(this.#root, path, 1, found)
    if (found.has('GET')) found.add('HEAD')
    return [...found].sort()
  }
}

function named(names: readonly string[], values: readonly string[]): Readonly<Record<string, string>> {
  if (names.length === 0) return NO_PARAMS
  const params: Record<string, string> = {}
  for (const [index, name] of names.entries()) params[name] = values[index] ?? ''
  return params
}

/** Depth first, most specific first. Each node is visited once at most, as its depth is its segment's number. */
function walk(node: Node, method: string, path: string, start: number, values: string[]): Placed | null {
  const slash = path.indexOf('/', start)
  const segment = slash < 0 ? path.slice(start) : path.slice(start, slash)
  const next = node.statics.get(segment)
  if (next !== undefined) {
    const found = slash < 0 ? pick(next.leaf, method) : walk(next, method, path, slash + 1, values)
    if (found !== null) return found
  }
  if (node.param !== null && segment !== '') {
    values.push(segment)
    const found =
      slash < 0 ? pick(node.param.leaf, method) : walk(node.param, method, path, slash + 1, values)
    if (found !== null) return found
    values.pop()
  }
  const rest = pick(node.rest, method)
  if (rest !== null) values.push(path.slice(start))
  return rest
}

function pick(leaf: Leaf | null, method: string): Placed | null {
  if (leaf === null) return null
  return leaf.methods.get(method) ?? (method === 'HEAD' ? leaf.methods.get('GET') : undefined) ?? leaf.any
}

/** @returns whether a built-in path was met, behind which nothing else answers */
function gather(node: Node, path: string, start: number, found: Set<string>): boolean {
  const slash = path.indexOf('/', start)
  const segment = slash < 0 ? path.slice(start) : path.slice(start, slash)
  for (const next of [node.statics.get(segment), segment === '' ? null : node.param]) {
    if (next == null) continue
    if (slash >= 0) {
      if (gather(next, path, slash + 1, found)) return true
    } else if (collect(next.leaf, found)) return true
  }
  return collect(node.rest, found)
}

function collect(leaf: Leaf | null, found: Set<string>): boolean {
  if (leaf === null) return false
  for (const method of leaf.methods.keys()) found.add(method)
  if (leaf.any !== null && leaf.any !== NOT_ALLOWED) for (const method of COMMON_METHODS) found.add(method)
  return leaf.any === NOT_ALLOWED
}

/** What the table needs to know of an upstream. */
type Upstreams = ReadonlyMap<string, { readonly allowSemicolons: boolean }>

export interface Compiled {
  readonly table: RouteTable
  readonly faults: readonly Fault[]
}

/**
 * @param builtIn routes that the gateway serves itself; no entry may take their paths
 * @param reserved paths kept for the gateway, though nothing answers there
 */
export function compileTable(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
  reserved: readonly string[] = [],
): Compiled {
  const root = new Node()
  const faults: Fault[] = []
  const taken = [...new Set([...builtIn.map((route) => route.path), ...reserved])].map(trustedPattern)
  const routes: Route[] = []
  for (const entry of entries) {
    const pattern = readPattern(entry.path, upstreams.get(entry.upstream)?.allowSemicolons ?? false)
    const message = typeof pattern === 'string' ? pattern : collision(pattern, taken)
    if (typeof pattern === 'string' || message !== null) {
      faults.push({ place: entry.place, message: `${entry.method} ${entry.path}: ${message}` })
      continue
    }
    const route = routeOf(entry)
    const twin = insert(root, pattern, route)
    if (twin === null) routes.push(route)
    else
      faults.push({
        place: entry.place,
        message: `${route.id}: matches the same requests as ${twin.id}${at(twin)}`,
      })
  }
  for (const route of builtIn) {
    insert(root, trustedPattern(route.path), route)
    routes.push(route)
  }
  return { table: new RouteTable(Object.freeze(routes), root), faults }
}

function trustedPattern(path: string): Pattern {
  const pattern = readPattern(path, false)
  if (typeof pattern === 'string') throw new Error(`${path}: ${pattern}`)
  return pattern
}

function collision(pattern: Pattern, taken: readonly Pattern[]): string | null {
  return taken.some((each) => covers(each, pattern))
    ? 'collides with a built-in path: the gateway answers there itself'
    : null
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
    place: entry.place,
  })
}

function at(route: Route): string {
  return route.place === null ? '' : ` (${route.place.file}:${route.place.line})`
}

/** @returns the route that already answers those requests, when there is one */
function insert(root: Node, pattern: Pattern, route: Route): Route | null {
  const leaf = leafOf(root, pattern)
  const twin = route.method === 'ANY' ? leaf.any : leaf.methods.get(route.method)
  if (twin != null) return twin.route
  const placed = { route, names: pattern.names }
  if (route.method === 'ANY') leaf.any = placed
  else leaf.methods.set(route.method, placed)
  if (route.place === null) leaf.any ??= NOT_ALLOWED
  return null
}

function leafOf(root: Node, pattern: Pattern): Leaf {
  let node = root
  for (const segment of pattern.segments) {
    if (segment.kind === 'rest') {
      node.rest ??= newLeaf()
      return node.rest
    }
    node = child(node, segment)
  }
  node.leaf ??= newLeaf()
  return node.leaf
}

function child(node: Node, segment: Exclude<Segment, { kind: 'rest' }>): Node {
  if (segment.kind === 'param') {
    node.param ??= new Node()
    return node.param
  }
  const known = node.statics.get(segment.text)
  if (known !== undefined) return known
  const made = new Node()
  node.statics.set(segment.text, made)
  return made
}

function newLeaf(): Leaf {
  return { methods: new Map(), any: null }
}
