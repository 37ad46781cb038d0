/**
 * Builds the entries of an MCP server: its path, its metadata, and a line for each tool, prompt, resource and
 * open method.
 */

import { EVERY_PERMISSION } from '../../seats-admin/model/permission.ts'
import { linePath, type McpKind, metadataPath, OPEN_METHODS } from '../model/mcp.ts'
import { needsPermission } from '../model/route.ts'
import type { McpEntry, RouteEntry } from './config.ts'
import { quote } from './invalid-value.ts'
import type { Section } from './section.ts'
import type { RouteContext, TableValues } from './table-settings.ts'

type Server = NonNullable<TableValues['mcp']>
type Values = TableValues['routes'] extends ReadonlyMap<string, infer Value> ? Value : never

/** Builds an entry of the table. @param key the key of its value in the section */
type BuildEntry = (
  section: Section,
  key: string,
  request: Pick<RouteEntry, 'method' | 'path' | 'mcp'>,
  values: Values,
) => RouteEntry

const GROUPS: readonly { readonly key: 'tools' | 'prompts' | 'resources'; readonly kind: McpKind }[] = [
  { key: 'tools', kind: 'tool' },
  { key: 'prompts', kind: 'prompt' },
  { key: 'resources', kind: 'resource' },
]

/** The values of an entry that the table does not write. */
const OWN = { tenant: null, space: null, responseTimeout: null, rateLimit: null, signIn: null, maxBody: null }

/** @param root the table */
export function buildMcp(section: Section, server: Server, root: Section, build: BuildEntry): RouteEntry[] {
  const { path, resource, maxBody, bodyTimeout } = server
  const line = (
    at: Section,
    key: string,
    kind: McpKind,
    name: string,
    values: Omit<Values, 'signIn' | 'maxBody'>,
  ) =>
    build(
      at,
      key,
      {
        method: kind,
        path: linePath(path, name),
        mcp: Object.freeze({ part: 'line', kind, name, resource }),
      },
      { ...values, signIn: null, maxBody },
    )
  const lines = [
    ...GROUPS.flatMap(({ key, kind }) =>
      [...server[key]].map(([name, values]) => line(section.section(key), name, kind, name, values)),
    ),
    ...OPEN_METHODS.map((name) => line(root, 'mcp', 'method', name, { ...OWN, permission: 'authenticated' })),
  ]
  const filtersLists = server.list === 'filtered'
  const endpoint: McpEntry = Object.freeze({ part: 'server', resource, filtersLists, bodyTimeout })
  const metadata: McpEntry = Object.freeze({ part: 'metadata', document: metadataOf(server, lines) })
  return [
    build(
      root,
      'mcp',
      { method: 'POST', path, mcp: endpoint },
      { ...OWN, permission: EVERY_PERMISSION, maxBody },
    ),
    ...lines,
    Object.freeze({
      ...build(
        section,
        'resource',
        { method: 'GET', path: metadataPath(resource), mcp: metadata },
        { ...OWN, permission: 'public' },
      ),
      // The prefix of the table is not before it.
      prefix: '',
    }),
  ]
}

function metadataOf({ resource, authorizationServers }: Server, lines: readonly RouteEntry[]): string {
  const scopes = new Set(lines.map(({ requirement }) => requirement).filter(needsPermission))
  return JSON.stringify({
    resource,
    ...(authorizationServers.length === 0 ? {} : { authorization_servers: authorizationServers }),
    scopes_supported: [...scopes].sort(),
    bearer_methods_supported: ['header'],
  })
}

/** The token of a caller is for this resource, and no other server may get it (RFC 8707). */
export function checkMcp(root: Section, upstream: string, { passAuthorization }: RouteContext): void {
  if (passAuthorization.has(upstream))
    root.fault(
      'upstream',
      `upstream: ${quote(upstream)} has pass_authorization, so the MCP server would get the tokens of its callers: remove pass_authorization, or name an upstream without it`,
    )
}
