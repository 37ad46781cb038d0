/**
 * The compiled route table: a tree of segments for each set of hosts with the same entries. A lookup costs
 * the depth of the path, not the number of routes or hosts. At each segment, a static one beats `{param}`,
 * which beats `*`. An entry that lacks the method gives way to the next that has it.
 */

import { isOwnPermission } from '../../../seats-admin/model/permission.ts'
import type { RouteEntry } from '../../config/config.ts'
import { distinctFaults, type Fault, type Warning } from '../../config/faults.ts'
import { PathParams } from '../../model/decision.ts'
import type { McpEndpoint, Route } from '../../model/route.ts'
import { Entries, type PlacedEntry, type Upstreams } from './entries.ts'
import { fallbacks } from './fallback.ts'
import { type Branch, branchesOf, type HostRoots, hostRoots } from './host-roots.ts'
import { overlaps } from './overlap.ts'
import type { Pattern } from './pattern.ts'
import { allowedMethods, find, type Node, routesAt } from './tree.ts'

export interface Match {
  readonly route: Route
  readonly params: PathParams
}

export class RouteTable {
  /** The routes in the order of the tables; built-in ones last. */
  readonly routes: readonly Route[]
  /**
   * The root for the hosts that no table names. Questions about all requests at once read it.
   */
  readonly root: Node
  /** Null: no table names a host, and all hosts have the same entries. */
  readonly hosts: HostRoots | null
  /** The MCP servers. Their lines are among the routes; requests match the servers alone. */
  readonly servers: readonly McpEndpoint[]

  constructor(
    routes: readonly Route[],
    root: Node,
    hosts: HostRoots | null = null,
    servers: readonly McpEndpoint[] = [],
  ) {
    this.routes = routes
    this.root = root
    this.hosts = hosts
    this.servers = servers
  }

  /** @param host canonical; null: the request names none */
  rootOf(host: string | null): Node {
    if (this.hosts === null || host === null) return this.root
    return this.hosts.find(host) ?? this.root
  }

  /**
   * @param path normalised
   * @param host canonical; null: the request names none
   */
  match(method: string, path: string, host: string | null = null): Match | null {
    // A response to TRACE repeats the request's credentials (RFC 9110, section 9.3.8): no entry matches it.
    if (method === 'TRACE') return null
    const values: string[] = []
    const placed = find(this.rootOf(host), method, path, 1, values)
    if (placed === null || placed.route === null) return null
    return { route: placed.route, params: new PathParams(placed.names, values) }
  }

  /**
   * The methods of all entries that match the path, for `Allow`; empty: no entry matches (RFC 9110, section
   * 10.2.1).
   */
  allowedMethods(path: string, host: string | null = null): string[] {
    return allowedMethods(this.rootOf(host), path)
  }

  /** All entries that match the path, whatever their methods. */
  routesAt(path: string, host: string | null = null): Route[] {
    return routesAt(this.rootOf(host), path)
  }
}

interface Compiled {
  readonly table: RouteTable
  readonly faults: readonly Fault[]
  /** Legal entries that may be unintentional. */
  readonly warnings: readonly Warning[]
}

/**
 * @param builtIn routes that the gateway serves itself; entries can't use their paths
 * @param apiHosts the hosts that `builtIn` is for; null: every host
 */
export function compileTable(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
  apiHosts: readonly string[] | null = null,
): Compiled {
  const steps = compilation(entries, upstreams, builtIn, apiHosts, warningsOf)
  for (;;) {
    const step = steps.next()
    // Several branches may have the same entry.
    if (step.done === true) {
      const { table, faults, warnings } = step.value
      return { table, faults: distinctFaults(faults), warnings: distinctFaults(warnings) }
    }
  }
}

/**
 * The table of entries that have compiled before, one entry a step, without the search for warnings.
 *
 * @throws if they have not
 */
export function* compiledTable(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
  apiHosts: readonly string[] | null = null,
): Generator<null, RouteTable> {
  const { table, faults } = yield* tableCompilation(entries, upstreams, builtIn, apiHosts)
  for (const { message } of faults) throw new Error(message)
  return table
}

/**
 * {@link compileTable} without the search for warnings, one entry a step. The same fault may be listed more
 * than once.
 */
export function tableCompilation(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
  apiHosts: readonly string[] | null,
): Generator<null, Pick<Compiled, 'table' | 'faults'>> {
  return compilation(entries, upstreams, builtIn, apiHosts, () => [])
}

/** One entry a step. */
function* compilation(
  entries: readonly RouteEntry[],
  upstreams: Upstreams,
  builtIn: readonly Route[],
  apiHosts: readonly string[] | null,
  search: typeof warningsOf,
): Generator<null, Compiled> {
  const compiled = new Entries(upstreams, builtIn)
  const branches = branchesOf(entries, apiHosts)
  const faults: Fault[] = []
  const warnings: Warning[] = []
  for (const branch of branches) {
    const placed: PlacedEntry[] = []
    for (const entry of branch.entries) {
      const result = compiled.place(branch, entry)
      if (typeof result === 'string') faults.push(faultOf(entry, result))
      else placed.push(result)
      yield null
    }
    // Before the built-in routes are added: entries can't cross them, as nothing else matches there.
    warnings.push(...search(branch, placed))
    compiled.finish(branch, placed)
  }
  const [others] = branches
  if (others === undefined) throw new Error('the hosts that no table names have a branch')
  const routes = Object.freeze([...compiled.routesOf(entries), ...builtIn])
  return {
    table: new RouteTable(routes, others.root, hostRoots(branches), compiled.servers),
    faults,
    warnings,
  }
}

function faultOf({ method, prefix = '', path, place }: RouteEntry, message: string): Fault {
  return { place, message: `${method} ${prefix}${path}: ${message}` }
}

function warningsOf({ root }: Branch, all: readonly PlacedEntry[]): Warning[] {
  const lines = all.filter(({ route }) => route.mcp !== undefined)
  const placed = all.filter(({ route }) => route.mcp === undefined)
  const routes = placed.map(({ route }) => route)
  const patterns = placed.map(({ pattern }) => pattern)
  return [
    ...overlaps(root, routes, patterns),
    ...fallbacks(root, routes, patterns),
    ...foreignParams(routes, patterns),
    ...publicEverything(routes),
    ...builtInPermissions([...routes, ...lines.map(({ route }) => route)]),
  ]
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

function builtInPermissions(routes: readonly Route[]): Warning[] {
  return routes.flatMap((route) => {
    const { place } = route
    const message = builtInPermission(route)
    if (place === null || message === null) return []
    const about = { group: route.requirement, subject: route.id }
    return [{ code: 'builtin_permission', place, message, about }]
  })
}

/** @returns what is wrong with the permission of a table's entry; null: nothing */
export function builtInPermission({ id, requirement, target }: Route): string | null {
  if (!isOwnPermission(requirement) || target.kind !== 'upstream') return null
  return `${id}: a Seat that holds ${requirement} opens the gateway's own endpoints too: write a name of the service's own, such as ${target.name}.${requirement}`
}

function publicEverything(routes: readonly Route[]): Warning[] {
  return routes.flatMap(({ id, path, requirement, place }) => {
    if (path !== '/*' || requirement !== 'public' || place === null) return []
    const message = `${id}: public: every path that no other entry matches needs no credential, those of new endpoints too`
    return [{ code: 'public_everything', place, message }]
  })
}
