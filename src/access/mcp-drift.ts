/** Compares the lines of MCP servers with what the servers list. */

import type { UpstreamConfig } from '../config/config.ts'
import type { Fault, Warning } from '../config/faults.ts'
import { linePath } from '../model/mcp.ts'
import { forwardedPath, type McpEndpoint, type Place, type Route } from '../model/route.ts'
import { printable } from '../telemetry/readable.ts'
import { namesAt } from './mcp-lists.ts'

type Observed = (Fault & { readonly level: 'ok' }) | (Warning & { readonly level: 'warning' })

/** Milliseconds for all lists of a server. */
const TIME = 10_000
/** Warnings about one server: further ones would tell nothing new. */
const MAX_WARNINGS = 100

/** Asks the first target of each server. Never rejects. */
export async function observeServers(
  servers: readonly McpEndpoint[],
  upstreams: ReadonlyMap<string, UpstreamConfig>,
): Promise<Observed[]> {
  return (await Promise.all(servers.map((server) => observeServer(server, upstreams)))).flat()
}

async function observeServer(
  server: McpEndpoint,
  upstreams: ReadonlyMap<string, UpstreamConfig>,
): Promise<Observed[]> {
  const [line] = server.lines
  const place = server.lines.find(({ mcp }) => mcp?.kind === 'method')?.place
  const upstream = line?.target.kind === 'upstream' ? upstreams.get(line.target.name) : undefined
  const [target] = upstream?.targets ?? []
  if (line === undefined || place == null || upstream === undefined || target === undefined) return []
  const ok = (state: string): Observed[] => [{ level: 'ok', place, message: printable(`mcp: ${state}`) }]
  if (upstream.tls !== null || upstream.protocol === 'h2c')
    return ok(`the lists of ${target.origin} are not compared, as it needs tls or h2c`)
  try {
    const url = target.origin + forwardedPath(line.rewrite, server.path)
    const findings = differences(server, place, await namesAt(url, AbortSignal.timeout(TIME)))
    return findings.length === 0
      ? ok(`${target.origin} lists what the lines name`)
      : findings.slice(0, MAX_WARNINGS)
  } catch (cause) {
    const { message, cause: inner } = cause as Error
    return ok(
      `the lists of ${target.origin} are not compared: ${inner instanceof Error ? inner.message : message}`,
    )
  }
}

function differences(
  server: McpEndpoint,
  place: Place,
  listed: Awaited<ReturnType<typeof namesAt>>,
): Observed[] {
  const used = new Set<Route>()
  const unlisted = listed.flatMap(({ kind, name }): Observed[] => {
    const line = server.find(kind, name)
    if (line !== null) used.add(line)
    const message = `mcp: the server has ${kind} ${linePath(server.path, name)}, which no line names: its calls are refused`
    return line === null
      ? [{ level: 'warning', place, code: 'tool_unlisted', message: printable(message) }]
      : []
  })
  const absent = server.lines.flatMap((line): Observed[] => {
    const isNamed = line.mcp?.kind === 'tool' || line.mcp?.kind === 'prompt'
    if (!isNamed || used.has(line) || line.place === null) return []
    const message = `${line.id}: the server lists no such ${line.method}`
    return [{ level: 'warning', place: line.place, code: 'tool_absent', message: printable(message) }]
  })
  return [...unlisted, ...absent]
}
