/** MCP servers in questions about all requests at once. Their lines are no part of the trees. */

import { linePath, type McpName } from '../model/mcp.ts'
import type { McpEndpoint, Route } from '../model/route.ts'
import { hostClasses, type Tables } from './tables.ts'

/** The routes that decide what matches the route: the lines of an MCP server, or itself. */
export function decidingRoutes(route: Route): readonly Route[] {
  return route.target.kind === 'mcp' ? route.target.endpoint.lines : [route]
}

/**
 * The names for which the lines of the servers may differ: each name of a line, and for each beginning of a
 * URI, one that no line names.
 */
function namesOf(servers: readonly (McpEndpoint | null)[]): McpName[] {
  const all = servers.flatMap((server) => server?.lines.flatMap(({ mcp }) => mcp ?? []) ?? [])
  const names = new Set(all.map(({ name }) => name))
  const sample = (beginning: string) => {
    let name = `${beginning}x`
    for (let n = 1; names.has(name); n++) name = `${beginning}x${n}`
    return name
  }
  return all.map(({ kind, name }) => ({
    kind,
    name: kind === 'resource' && name.endsWith('/*') ? sample(name.slice(0, -1)) : name,
  }))
}

/** The differences of lines, for each host and path with a server. @param isSame whether the answers are */
export function* lineDifferences(
  [before, after]: readonly [Tables, Tables],
  isSame: (one: Route | null, other: Route | null) => boolean,
) {
  const paths = new Set([before, after].flatMap(({ table }) => table.servers.map(({ path }) => path)))
  const pairs = new Set<string>()
  for (const host of paths.size === 0 ? [] : hostClasses([before, after]))
    for (const path of paths) {
      const [old, now] = [serverAt(before, path, host), serverAt(after, path, host)]
      for (const { kind, name } of namesOf([old, now])) {
        yield null
        const pair = { before: old?.find(kind, name) ?? null, after: now?.find(kind, name) ?? null }
        const key = `${pair.before?.id} ${pair.after?.id}`
        if (isSame(pair.before, pair.after) || pairs.has(key)) continue
        pairs.add(key)
        const witness = { method: kind, ...(host === null ? {} : { host }), path: linePath(path, name) }
        yield { ...pair, witness }
      }
    }
}

function serverAt({ table }: Tables, path: string, host: string | null): McpEndpoint | null {
  const target = table.match('POST', path, host)?.route.target
  return target?.kind === 'mcp' ? target.endpoint : null
}
