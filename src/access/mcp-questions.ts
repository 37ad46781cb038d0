/** Questions about calls of MCP servers: `tool get_weather` in place of `POST /mcp`. */

import type { RouteTable } from '../decision/router/table.ts'
import { Refusal } from '../model/errors.ts'
import { canonicalHost, hostsLabel } from '../model/host.ts'
import { callOf, type McpCall, type McpKind } from '../model/mcp.ts'
import type { McpEndpoint } from '../model/route.ts'

export interface RequestQuestion {
  readonly method: string
  readonly target: string
  /** Null: it names none. */
  readonly host: string | null
  readonly call?: McpCall | undefined
}

const KINDS: ReadonlySet<string> = new Set<McpKind>(['tool', 'prompt', 'resource', 'method'])

/**
 * The request that a question is about. It writes a call as the kind of a line and its name, `tool
 * get_weather`, or as the list of routes does, `tool /mcp#get_weather`. Any other question is the request
 * itself. A name that several servers have needs the second form, or a host.
 */
export function requestOfQuestion(table: RouteTable, question: RequestQuestion): RequestQuestion | Refusal {
  const { method, target, host } = question
  if (!KINDS.has(method) || table.servers.length === 0) return question
  const kind = method as McpKind
  const [, path = null, escaped = ''] = /^(\/[^#]*)#(.*)$/s.exec(target) ?? []
  const name = path === null ? target : unescaped(escaped)
  const here = table.servers.filter(
    (each) => isAt(table, each, host) && (path === null || each.path === path),
  )
  const having = here.filter((each) => each.find(kind, name) !== null)
  const [server = here[0], ...others] = having
  if (server === undefined) return new Refusal('route_not_found', 'No MCP server is at this host and path.')
  if (others.length > 0) return new Refusal('input_invalid', severalServers(having, kind, name))
  return { method: 'POST', target: server.path, host: host ?? hostOf(server), call: callOf({ kind, name }) }
}

/** METHOD and PATH of a command. One argument such as `tool get_weather` is both. */
export function methodAndPath(positionals: readonly string[]): readonly string[] {
  const [first = '', ...others] = positionals
  const [, kind = '', name = ''] = /^(\S+) (.+)$/s.exec(first) ?? []
  return others.length === 0 && KINDS.has(kind) ? [kind, name] : positionals
}

function isAt(table: RouteTable, server: McpEndpoint, host: string | null): boolean {
  if (host === null) return true
  const target = table.match('POST', server.path, canonicalHost(host))?.route.target
  return target?.kind === 'mcp' && target.endpoint === server
}

/** A host of the server; null: it is for those that no table names. */
function hostOf({ lines }: McpEndpoint): string | null {
  const [host = null] = lines[0]?.hosts ?? []
  // A wildcard stands for one label.
  return host?.replace(/^\*/, 'x') ?? null
}

function severalServers(servers: readonly McpEndpoint[], kind: McpKind, name: string): string {
  const all = servers.map(({ path, lines }) => `"${kind} ${path}#${name}"${at(lines[0]?.hosts ?? [])}`)
  return `Several MCP servers have this name: ask for ${all.join(' or ')}.`
}

function at(hosts: readonly string[]): string {
  return hosts.length === 0 ? '' : ` at host ${hostsLabel(hosts)}`
}

function unescaped(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
