/** Writes a route table for an MCP server. */

import { stringify } from 'yaml'
import type { McpKind, McpName } from '../model/mcp.ts'

interface TableOptions {
  /** The file or the URL of the lists, as the user wrote it. */
  readonly source: string
  readonly upstream: string
  readonly path: string
  readonly resource: string
  readonly authorizationServers: readonly string[]
}

const GROUPS = [
  ['tools', 'tool'],
  ['prompts', 'prompt'],
  ['resources', 'resource'],
] as const satisfies readonly (readonly [string, McpKind])[]

/** A new table, with a permission for each name. */
export function mcpTableText(
  { source, upstream, path, resource, authorizationServers }: TableOptions,
  names: readonly McpName[],
): string {
  const groups = GROUPS.map(([group, kind]) => [group, linesOf(names, kind, upstream)] as const)
  const mcp = {
    path,
    resource,
    ...(authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers }),
    ...Object.fromEntries(groups.filter(([, lines]) => lines.size > 0)),
  }
  return [
    `# Made by seatgate import mcp from ${source.replaceAll(/[^ -~]/g, '?')}`,
    '# NAME: the permission that a call needs in its space. A call of what no line names is not forwarded.',
    stringify({ upstream, mcp }, { lineWidth: 0 }).trimEnd(),
    '',
  ].join('\n')
}

function linesOf(names: readonly McpName[], kind: McpKind, upstream: string): Map<string, string> {
  const own = names.filter((each) => each.kind === kind).map(({ name }) => name)
  return new Map(own.toSorted().map((name) => [name, permissionFor(kind, name, upstream)]))
}

/** Resources share one permission: there are many, and they come and go. */
function permissionFor(kind: McpKind, name: string, upstream: string): string {
  if (kind === 'resource') return `${upstream}.resources:read`
  const part = name.replaceAll(/[^A-Za-z0-9._-]/g, '-')
  return kind === 'prompt' ? `${upstream}.prompts:${part}` : `${upstream}:${part}`
}
