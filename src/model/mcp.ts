/**
 * Calls of the Model Context Protocol (MCP, revision 2026-07-28) as data. A server has one path, and the body
 * of each POST names what is called. A table has a line for each tool, prompt and resource.
 */

/** `method`: a call that names neither a tool, a prompt nor a resource, such as `tools/list`. */
export type McpKind = 'tool' | 'prompt' | 'resource' | 'method'

/** The message of a request, as far as the decision depends on it. */
export interface McpCall {
  /** The method of JSON-RPC. */
  readonly method: string
  /** The name of the tool or prompt, or the URI of the resource; null: the method has none. */
  readonly name: string | null
  /** The URIs that `subscriptions/listen` subscribes to. */
  readonly uris: readonly string[]
}

/** The name of a line. */
export interface McpName {
  readonly kind: McpKind
  /** The name of the tool, prompt or method, or the URI of the resource. In a table, a final `*` matches the rest. */
  readonly name: string
}

/** The methods that name what they call, and the member of `params` with the name. */
export const NAMING_METHODS: ReadonlyMap<
  string,
  { readonly kind: McpKind; readonly member: 'name' | 'uri' }
> = new Map([
  ['tools/call', { kind: 'tool', member: 'name' }],
  ['prompts/get', { kind: 'prompt', member: 'name' }],
  ['resources/read', { kind: 'resource', member: 'uri' }],
])

/** The methods with lists of names, and the member of their result with the items. */
export const LIST_METHODS: ReadonlyMap<
  string,
  { readonly kind: McpKind; readonly items: string; readonly member: 'name' | 'uri' }
> = new Map([
  ['tools/list', { kind: 'tool', items: 'tools', member: 'name' }],
  ['prompts/list', { kind: 'prompt', items: 'prompts', member: 'name' }],
  ['resources/list', { kind: 'resource', items: 'resources', member: 'uri' }],
])

export const LISTEN = 'subscriptions/listen'

/** The methods that every MCP table has a line for. They need a valid credential. */
export const OPEN_METHODS: readonly string[] = ['server/discover', ...LIST_METHODS.keys(), LISTEN]

/** The call of a line by its name. Null: no call is named so. */
export function callOf({ kind, name }: McpName): McpCall {
  const [method = name] = [...NAMING_METHODS].find(([, each]) => each.kind === kind) ?? []
  return { method, name: kind === 'method' ? null : name, uris: [] }
}

/** The names that a line must allow each. */
export function namesIn({ method, name, uris }: McpCall): McpName[] {
  const kind = NAMING_METHODS.get(method)?.kind
  if (kind !== undefined) return [{ kind, name: name ?? '' }]
  return [{ kind: 'method', name: method }, ...uris.map((uri): McpName => ({ kind: 'resource', name: uri }))]
}

/**
 * The pattern of a line, such as `/mcp#get_weather`. No request has it: a request target has no fragment, and
 * the gateway refuses one with `#`. The name is in visible ASCII, other characters as escapes.
 *
 * @param path the path of the server
 */
export function linePath(path: string, name: string): string {
  return `${path}#${name.replace(/[^!-$&-~]/gu, encodeURIComponent)}`
}

/** The path of the server, of the pattern of a line. */
export function serverPath(pattern: string): string {
  const end = pattern.indexOf('#')
  return end < 0 ? pattern : pattern.slice(0, end)
}

/**
 * The URI as the most lenient reader sees it: escapes of any depth are decoded, backslashes and several
 * slashes are one slash, and control characters and spaces are dropped, as WHATWG URL drops tabs and line
 * ends. Characters are in their compatible form (NFKC), in which a full-width dot is a dot.
 */
export function plainUri(uri: string): string {
  const bytes = Buffer.from(uri)
    .toString('latin1')
    .replaceAll(/%(?:25)+/g, '%')
    .replaceAll(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)))
  return Buffer.from(bytes, 'latin1')
    .toString()
    .normalize('NFKC')
    .replaceAll(/[\0- \x7f]/g, '')
    .replaceAll(/[/\\]+/g, '/')
}

/** Whether some reader would resolve a part of the URI. */
export function hasDotSegment(uri: string): boolean {
  return /(?:^|\/)\.\.?(?:[/?#;]|$)/.test(plainUri(uri))
}

/** Where clients look for the metadata of a resource (RFC 9728, section 3.1): a path at its origin. */
export function metadataPath(resource: string): string {
  const { pathname } = new URL(resource)
  return `/.well-known/oauth-protected-resource${pathname === '/' ? '' : pathname}`
}

export function metadataUrl(resource: string): string {
  return new URL(resource).origin + metadataPath(resource)
}
