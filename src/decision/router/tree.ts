/** The tree of the route table: one node a segment. */

import { addToHash, hashOf } from '../../lib/text-hash.ts'
import type { Route } from '../../model/route.ts'
import type { Pattern, Segment } from './pattern.ts'

export interface Leaf {
  readonly methods: Map<string, Placed>
  any: Placed | null
}

/** A route in the tree, with the names of its variable segments. */
interface Placed {
  /** The route; null only in {@link NOT_ALLOWED}. */
  readonly route: Route | null
  readonly names: readonly string[]
}

/** Nodes by static segment. A lookup reads the segment in its path, without a string of its own. */
class StaticSegments {
  readonly #byText = new Map<string, Node>()
  readonly #byHash = new Map<number, { readonly text: string; readonly node: Node }[]>()

  /** @param hash of the segment, which is the part of `path` from `start` to `end` */
  find(path: string, start: number, end: number, hash: number): Node | null {
    for (const { text, node } of this.#byHash.get(hash) ?? NO_NODES)
      if (text.length === end - start && path.startsWith(text, start)) return node
    return null
  }

  get(text: string): Node | null {
    return this.#byText.get(text) ?? null
  }

  add(text: string, node: Node): void {
    this.#byText.set(text, node)
    const hash = hashOf(text)
    this.#byHash.set(hash, [...(this.#byHash.get(hash) ?? NO_NODES), { text, node }])
  }

  [Symbol.iterator](): MapIterator<[string, Node]> {
    return this.#byText[Symbol.iterator]()
  }
}

const NO_NODES: readonly never[] = Object.freeze([])

const SLASH = 0x2f

export class Node {
  readonly statics = new StaticSegments()
  param: Node | null = null
  leaf: Leaf | null = null
  rest: Leaf | null = null
}

/** The methods that `ANY` adds to `Allow`. */
const COMMON_METHODS = ['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT']

/** Occupies the other methods of a built-in path, so that no wider entry of a table matches there. */
const NOT_ALLOWED: Placed = Object.freeze({ route: null, names: [] })

/**
 * Depth first, most specific first. Each node is visited at most once: its depth is the number of its
 * segment.
 */
export function find(
  node: Node,
  method: string,
  path: string,
  start: number,
  values: string[],
): Placed | null {
  let end = start
  let hash = 0
  for (let code = path.charCodeAt(end); end < path.length && code !== SLASH; code = path.charCodeAt(++end))
    hash = addToHash(hash, code)
  const isLast = end === path.length
  const next = node.statics.find(path, start, end, hash)
  if (next !== null) {
    const placed = isLast ? pick(next.leaf, method) : find(next, method, path, end + 1, values)
    if (placed !== null) return placed
  }
  if (node.param !== null && end > start) {
    values.push(path.slice(start, end))
    const placed = isLast ? pick(node.param.leaf, method) : find(node.param, method, path, end + 1, values)
    if (placed !== null) return placed
    values.pop()
  }
  const rest = pick(node.rest, method)
  if (rest !== null) values.push(path.slice(start))
  return rest
}

/** The entry of the leaf for the method; null: matching goes on to the next leaf. */
export function pick(leaf: Leaf | null, method: string): Placed | null {
  if (leaf === null) return null
  return leaf.methods.get(method) ?? (method === 'HEAD' ? leaf.methods.get('GET') : undefined) ?? leaf.any
}

/** The routes of a leaf, that for `ANY` last. */
export function placedIn({ methods, any }: Leaf): Placed[] {
  return [...methods.values(), ...(any === null ? [] : [any])]
}

/** Methods of all entries that match the path, HEAD by way of GET included; empty: no entry matches. */
export function allowedMethods(root: Node, path: string): string[] {
  const names = new Set<string>()
  for (const { methods, any } of leavesAt(root, path)) {
    for (const method of methods.keys()) names.add(method)
    if (any !== null && any !== NOT_ALLOWED) for (const method of COMMON_METHODS) names.add(method)
  }
  if (names.has('GET')) names.add('HEAD')
  return [...names].sort()
}

/** Routes of all entries that match the path, whatever their methods. */
export function routesAt(root: Node, path: string): Route[] {
  return leavesAt(root, path)
    .flatMap(placedIn)
    .flatMap(({ route }) => route ?? [])
}

function leavesAt(root: Node, path: string): Leaf[] {
  const leaves: Leaf[] = []
  collect(root, path, 1, leaves)
  return leaves
}

/** @returns whether the path reached a built-in entry, after which nothing else matches */
function collect(node: Node, path: string, start: number, leaves: Leaf[]): boolean {
  const slash = path.indexOf('/', start)
  const segment = slash < 0 ? path.slice(start) : path.slice(start, slash)
  for (const next of [node.statics.get(segment), segment === '' ? null : node.param]) {
    if (next === null) continue
    if (slash >= 0) {
      if (collect(next, path, slash + 1, leaves)) return true
    } else if (add(next.leaf, leaves)) return true
  }
  return add(node.rest, leaves)
}

function add(leaf: Leaf | null, leaves: Leaf[]): boolean {
  if (leaf === null) return false
  leaves.push(leaf)
  return leaf.any === NOT_ALLOWED
}

/** @returns the route that already matches the same requests; null: none */
export function insert(root: Node, pattern: Pattern, route: Route): Route | null {
  const leaf = leafOf(root, pattern)
  const duplicate = duplicateOf(leaf, route)
  if (duplicate != null) return duplicate.route
  const placed = { route, names: pattern.names }
  if (route.method === 'ANY') leaf.any = placed
  else leaf.methods.set(route.method, placed)
  if (route.place === null || isMcp(placed)) leaf.any ??= NOT_ALLOWED
  return null
}

/** At the path of an MCP server there is nothing else: an older client could call there without a line. */
function duplicateOf(leaf: Leaf, route: Route): Placed | null | undefined {
  const all = [...leaf.methods.values()]
  const server = isMcp({ route }) ? [...all, leaf.any][0] : all.find(isMcp)
  return server ?? (route.method === 'ANY' ? leaf.any : leaf.methods.get(route.method))
}

function isMcp({ route }: Pick<Placed, 'route'>): boolean {
  return route?.target.kind === 'mcp'
}

/** Whether no route matches the pattern's own requests of the method by this very pattern. */
export function isFree(root: Node, pattern: Pattern, method: string): boolean {
  const leaf = leafOf(root, pattern)
  return leaf.any === null && (method === 'ANY' || !leaf.methods.has(method))
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
  const present = node.statics.get(segment.text)
  if (present !== null) return present
  const created = new Node()
  node.statics.add(segment.text, created)
  return created
}

function newLeaf(): Leaf {
  return { methods: new Map(), any: null }
}
