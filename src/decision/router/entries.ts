/**
 * Makes the routes of entries and puts them into the trees of their hosts, with the built-in routes beside
 * them.
 */

import type { RouteEntry } from '../../config/config.ts'
import { getOrInsertComputed } from '../../lib/get-or-insert.ts'
import { CorsPolicy, corsKey } from '../../model/cors.ts'
import { hostsLabel } from '../../model/host.ts'
import { serverPath } from '../../model/mcp.ts'
import type { PathRewrite, PublicHandler, Route, RouteTarget } from '../../model/route.ts'
import { SPACE_HEADER } from '../../model/space-source.ts'
import { placeText } from './entry-warnings.ts'
import type { Branch } from './host-roots.ts'
import { McpServer } from './mcp-server.ts'
import {
  covers,
  NO_EXCEPTIONS,
  type PathExceptions,
  type Pattern,
  readPattern,
  restEqualsParams,
} from './pattern.ts'
import { insert, isFree, type Node } from './tree.ts'

interface UpstreamPaths extends PathExceptions {
  /** The text before forwarded paths; left out: none. */
  readonly basePath?: string
}

export type Upstreams = ReadonlyMap<string, UpstreamPaths>

export interface PlacedEntry {
  readonly route: Route
  readonly pattern: Pattern
  /**
   * The prefix alone, which a `/*` after it matches too unless another entry does; null: there is no prefix.
   */
  readonly bare: Pattern | null
}

/** The reason why an entry is refused at the path of a built-in endpoint. */
export const COLLISION =
  'collides with a built-in path, which the gateway serves itself: use another path, or move the built-in ones by api.prefix, api.auth_prefix or api.hosts of the configuration'

export class Entries {
  readonly #upstreams: Upstreams
  readonly #builtIn: readonly { readonly route: Route; readonly pattern: Pattern }[]
  readonly #builtInPatterns: readonly Pattern[]
  /** The result of each entry, which several branches may have. A text: the fault. */
  readonly #compiled = new Map<RouteEntry, PlacedEntry | string>()
  readonly #faulty = new Set<RouteEntry>()
  /** The MCP servers by the ids of their entries, without the method. */
  readonly #servers = new Map<string, McpServer>()
  /** The policies by key: tables with the same policy share one. */
  readonly #policies = new Map<string, CorsPolicy>()

  constructor(upstreams: Upstreams, builtIn: readonly Route[]) {
    this.#upstreams = upstreams
    this.#builtIn = builtIn.map((route) => ({ route, pattern: trustedPattern(route.path) }))
    this.#builtInPatterns = [...new Set(builtIn.map(({ path }) => path))].map(trustedPattern)
  }

  /** Inserts the entry. A sentence: it can't be inserted. */
  place(branch: Branch, entry: RouteEntry): PlacedEntry | string {
    const placed = this.#place(branch, entry)
    if (typeof placed === 'string') this.#faulty.add(entry)
    return placed
  }

  #place({ root, builtIn }: Branch, entry: RouteEntry): PlacedEntry | string {
    const compiled = this.#compile(entry)
    if (typeof compiled === 'string') return compiled
    const { route, pattern, bare } = compiled
    // Its server has it, whatever the hosts.
    if (route.mcp !== undefined) return compiled
    // The entry `/` of a table with a prefix is the prefix itself, with a final slash and without.
    const patterns = bare !== null && entry.path === '/' ? [pattern, bare] : [pattern]
    for (const each of patterns) {
      if (builtIn && this.#collides(each)) return COLLISION
      const duplicate = insert(root, each, route)
      if (duplicate !== null)
        return `matches the same requests as ${duplicate.id}${placeText(duplicate)}: remove one of them`
    }
    return compiled
  }

  /** Adds the built-in routes, and then the prefixes that no entry has for itself. */
  finish({ root, builtIn }: Branch, placed: readonly PlacedEntry[]): void {
    if (builtIn) for (const { route, pattern } of this.#builtIn) insert(root, pattern, route)
    insertBare(root, placed)
  }

  /** The MCP servers in the order of the tables. */
  get servers(): readonly McpServer[] {
    return [...this.#servers.values()]
  }

  /** The routes of the entries, without those of faulty ones and of MCP servers, whose lines decide. */
  routesOf(entries: readonly RouteEntry[]): Route[] {
    return entries.flatMap((entry) => {
      const compiled = this.#compiled.get(entry)
      if (compiled === undefined || typeof compiled === 'string' || this.#faulty.has(entry)) return []
      return compiled.route.target.kind === 'mcp' ? [] : [compiled.route]
    })
  }

  #compile(entry: RouteEntry): PlacedEntry | string {
    return getOrInsertComputed(this.#compiled, entry, () => {
      const upstream: UpstreamPaths = this.#upstreams.get(entry.upstream) ?? NO_EXCEPTIONS
      const { mcp } = entry
      if (mcp?.part !== 'line') return compile(entry, upstream, this.#policyOf(entry), this.#targetOf(entry))
      const target = Object.freeze({ kind: 'upstream', name: entry.upstream } as const)
      const route = routeOf(entry, upstream.basePath ?? '', this.#policyOf(entry), target)
      this.#servers.get(serverKey(entry))?.add(route)
      return { route, pattern: NO_PATTERN, bare: null }
    })
  }

  #targetOf(entry: RouteEntry): RouteTarget {
    const { mcp, upstream: name, prefix = '' } = entry
    if (mcp?.part === 'metadata') return { kind: 'public', handler: serveMetadata(mcp.document) }
    if (mcp?.part !== 'server') return { kind: 'upstream', name }
    const endpoint = new McpServer(prefix + entry.path, mcp)
    this.#servers.set(serverKey(entry), endpoint)
    return { kind: 'mcp', name, endpoint }
  }

  #policyOf({ cors }: RouteEntry): CorsPolicy | null {
    if (cors === undefined) return null
    return getOrInsertComputed(this.#policies, corsKey(cors), () => new CorsPolicy(cors))
  }

  #collides(pattern: Pattern): boolean {
    return this.#builtInPatterns.some((each) => covers(each, pattern) || restEqualsParams(pattern, each))
  }
}

function compile(
  entry: RouteEntry,
  upstream: UpstreamPaths,
  cors: CorsPolicy | null,
  target: RouteTarget,
): PlacedEntry | string {
  const { path, prefix = '' } = entry
  // A pattern without its slash would be read as a part of the prefix.
  if (!path.startsWith('/')) return 'a path must begin with a slash'
  const pattern = readPattern(prefix + path, upstream)
  if (typeof pattern === 'string') return pattern
  const bare = prefix !== '' && (path === '/' || path === '/*') ? readPattern(prefix, upstream) : null
  if (typeof bare === 'string') return bare
  return { route: routeOf(entry, upstream.basePath ?? '', cors, target), pattern, bare }
}

/**
 * Inserts the bare prefixes that are free. All are examined before one is inserted, so that their order does
 * not matter.
 */
function insertBare(root: Node, placed: readonly PlacedEntry[]): void {
  const free = placed.flatMap(({ route, pattern, bare }) => {
    const isRest = pattern.segments.at(-1)?.kind === 'rest'
    return bare !== null && isRest && isFree(root, bare, route.method) ? [{ route, bare }] : []
  })
  for (const { route, bare } of free) insert(root, bare, route)
}

function trustedPattern(path: string): Pattern {
  const pattern = readPattern(path, NO_EXCEPTIONS)
  if (typeof pattern === 'string') throw new Error(`${path}: ${pattern}`)
  return pattern
}

/** The id of its route. */
export function entryId({ method, hosts = NO_HOSTS, prefix = '', path }: RouteEntry): string {
  return `${method} ${hostsLabel(hosts)}${prefix}${path}`
}

/** The document of a protected resource (RFC 9728). */
function serveMetadata(document: string): PublicHandler {
  const body = Buffer.from(document)
  return async () => ({ status: 200, body, headers: ['access-control-allow-origin', '*'] })
}

/** The same for a server and its lines. */
function serverKey({ hosts = NO_HOSTS, prefix = '', path }: RouteEntry): string {
  return hostsLabel(hosts) + prefix + serverPath(path)
}

function routeOf(entry: RouteEntry, base: string, cors: CorsPolicy | null, target: RouteTarget): Route {
  const { method, hosts = NO_HOSTS, prefix = '', stripPrefix = false, space = SPACE_HEADER } = entry
  const path = prefix + entry.path
  const rewrite: PathRewrite = Object.freeze({ strip: stripPrefix ? prefix : '', base })
  return Object.freeze({
    id: entryId(entry),
    method,
    hosts,
    path,
    requirement: entry.requirement,
    space,
    target: Object.freeze(target),
    rewrite: rewrite.strip === '' && base === '' ? null : rewrite,
    maxBody: entry.maxBody,
    responseTimeout: entry.responseTimeout,
    signIn: entry.signIn,
    tenant: entry.tenant ?? null,
    cors,
    rateLimits: entry.rateLimits ?? null,
    ...(entry.mcp?.part === 'line' ? { mcp: entry.mcp } : {}),
    place: entry.place,
  })
}

const NO_HOSTS: readonly string[] = Object.freeze([])
/** That of lines, which are in no tree. */
const NO_PATTERN: Pattern = Object.freeze({ segments: [], names: [] })
