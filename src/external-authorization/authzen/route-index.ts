/**
 * The routes of a table by their pattern, as questions name them: `/v1/trainings/{id}`, after the host of
 * their table if it has one: `api.example.com/v1/trainings/{id}`. Names of parameters do not matter, as they
 * do not in matching.
 */

import type { Tables } from '../../access/tables.ts'
import { hostsLabel } from '../../model/host.ts'
import type { McpKind } from '../../model/mcp.ts'
import type { McpEndpoint, Route } from '../../model/route.ts'

/** Entries of one pattern, by method. */
export type Entries = ReadonlyMap<string, Route>

/** Methods that the gateway does not serve. */
const UNSERVED: ReadonlySet<string> = new Set(['CONNECT', 'TRACE'])

export class RouteIndex {
  /** Accepted request methods, sorted. */
  readonly methods: readonly string[]
  /** One for each pattern as it is written, sorted. */
  readonly ids: readonly string[]
  readonly #accepted: ReadonlySet<string>
  readonly #lines: readonly Route[]
  readonly #servers: readonly McpEndpoint[]
  readonly #entries = new Map<string, Map<string, Route>>()

  constructor({ table, methods }: Tables) {
    this.#accepted = methods.difference(UNSERVED)
    this.methods = [...this.#accepted].sort()
    const routes = table.routes.filter(
      ({ target, mcp }) => mcp === undefined && (target.kind !== 'public' || target.handler !== null),
    )
    this.#lines = table.routes.filter(({ mcp }) => mcp !== undefined)
    this.#servers = table.servers
    this.ids = [...new Set(routes.map(resourceId))].sort()
    for (const route of routes) for (const key of keysOf(route)) this.#add(key, route)
  }

  /** The entries of a pattern; null if no entry has it. */
  entriesAt(pattern: string): Entries | null {
    return this.#entries.get(shapeOf(pattern)) ?? null
  }

  /**
   * The entry that answers a method, as in matching: GET stands for HEAD, and `ANY` for every other accepted
   * method.
   *
   * @returns null: none
   */
  entryFor(entries: Entries, method: string): Route | null {
    if (!this.#accepted.has(method)) return null
    const get = method === 'HEAD' ? entries.get('GET') : undefined
    return entries.get(method) ?? get ?? entries.get('ANY') ?? null
  }

  /**
   * The line of an MCP server, by its name, or after the path of its server: `/mcp#get_weather`.
   *
   * @returns null: no server has it, or several have the name
   */
  lineOf(kind: McpKind, id: string): Route | null {
    const named = this.#lines.find((line) => line.mcp?.kind === kind && resourceId(line) === id)
    if (named !== undefined) return named
    const lines = this.#servers.flatMap((server) => server.find(kind, id) ?? [])
    return lines.length === 1 ? (lines[0] ?? null) : null
  }

  /** The ids of the lines, sorted: their names, where only one server has them. */
  lineIds(kind: McpKind): string[] {
    const ids = this.#lines.flatMap((line) => {
      if (line.mcp?.kind !== kind) return []
      return this.lineOf(kind, line.mcp.name) === line ? line.mcp.name : resourceId(line)
    })
    return ids.sort()
  }

  #add(key: string, route: Route): void {
    const shape = shapeOf(key)
    const entries = this.#entries.get(shape) ?? new Map<string, Route>()
    if (entries.size === 0) this.#entries.set(shape, entries)
    entries.set(route.method, route)
  }
}

/** The id of a route as a resource. */
function resourceId({ hosts, path }: Route): string {
  return hosts.length === 0 ? path : hostsLabel(hosts) + path
}

/** The keys of a route: one for each host of its table, and one for the label of all hosts. */
function keysOf(route: Route): Set<string> {
  return new Set([resourceId(route), ...route.hosts.map((host) => host + route.path)])
}

function shapeOf(pattern: string): string {
  return pattern.replaceAll(/\/\{[A-Za-z][A-Za-z0-9_-]*\}(?=\/|$)/g, '/{}')
}

/** The index of the tables that decide at the moment: made once for each. */
export function routeIndex(tables: () => Tables): () => RouteIndex {
  let indexed: Tables | null = null
  let index: RouteIndex | null = null
  return () => {
    const now = tables()
    if (index === null || now !== indexed) index = new RouteIndex(now)
    indexed = now
    return index
  }
}
