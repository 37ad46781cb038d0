/** `mcp:` of a route table: a server of the Model Context Protocol, revision 2026-07-28. */

import { hasDotSegment, type McpKind } from '../model/mcp.ts'
import { isLoopback } from './addresses.ts'
import { InvalidValue, quote, type ValueParser } from './invalid-value.ts'
import { httpUrl, INSECURE } from './provider-values.ts'
import { choice, duration, list, map, mapOf, required, type Setting, size, text } from './setting.ts'
import { staticPath } from './static-path.ts'

/** Characters of a name or URI. Clients send it in a header field too. */
export const MAX_NAME = 2048

/** @param line the value of a line */
export function mcpServer<T>(line: Setting<T>) {
  return map(
    'An MCP server (Model Context Protocol, revision 2026-07-28, Streamable HTTP). A call of what no line names is refused. See agents.md.',
    {
      path: required(
        text('Path of the server, after the prefix. Only POST is accepted.', staticPath, {
          placeholder: '/mcp',
          pattern: '^/',
          examples: ['/mcp'],
        }),
      ),
      resource: required(
        text(
          'URL of the server for clients: its identifier as a protected resource (RFC 9728). Tokens of issuers must have it in aud, in place of their audience (RFC 8707).',
          secureUrl,
          { placeholder: 'https://placeholder.invalid/', examples: ['https://gw.example/mcp'] },
        ),
      ),
      authorizationServers: list(
        'Issuers where clients get tokens, as the metadata of the resource lists them.',
        secureUrl,
        { distinct: true, items: { examples: ['https://login.acme.example'] } },
      ),
      tools: mapOf(line, 'Name of a tool: permission.', {}, nameFault),
      prompts: mapOf(line, 'Name of a prompt: permission.', {}, nameFault),
      resources: mapOf(
        line,
        'URI of a resource: permission. A final * after a slash matches the rest, unless that has a dot segment.',
        {},
        uriFault,
      ),
      list: choice(
        'What tools/list, prompts/list and resources/list show: what the caller may use, or the whole list of the server.',
        ['filtered', 'whole'],
        { default: 'filtered', examples: ['whole'] },
      ),
      maxBody: size('Maximum size of a message.', '1KiB', '64MiB', { default: '1MiB', examples: ['4MiB'] }),
      bodyTimeout: duration(
        'Time in which a whole message must arrive. Default: limits.body_timeout.',
        '1ms',
        '24d',
        { examples: ['10s'] },
      ),
    },
  )
}

/** A URL as it is compared: with https, or with http on a loopback address. */
const secureUrl: ValueParser<string> = (text) => {
  const url = httpUrl(text)
  if (url === null || /["\\#?]|[^!-~]/.test(text))
    return new InvalidValue('must be an https:// URL in visible ASCII without user name, query or fragment')
  return url.protocol === 'https:' || isLoopback(url.hostname) ? text : new InvalidValue(INSECURE)
}

/** The fault of a name that a table cannot have; null: it can. */
export function mcpNameFault(kind: McpKind, name: string): string | null {
  return kind === 'resource' ? uriFault(name) : nameFault(name)
}

function nameFault(name: string): string | null {
  // A reader would expect other names to match, and the line would open none of them.
  if (name.includes('*')) return `${quote(name)} has a wildcard, which names do not have: list each name`
  return textFault(name)
}

function uriFault(uri: string): string | null {
  const beginning = uri.endsWith('/*') ? uri.slice(0, -1) : uri
  if (beginning.includes('*'))
    return `${quote(uri)}: * stands for the rest of the URI: it must be last, after a slash`
  if (hasDotSegment(beginning)) return `${quote(uri)} has a dot segment: remove it`
  return textFault(uri)
}

function textFault(name: string): string | null {
  if (name === '') return 'a name must not be empty'
  if (name.length > MAX_NAME) return `a name must have at most ${MAX_NAME} characters`
  return /\p{Cc}/u.test(name) || !name.isWellFormed()
    ? `${quote(name)} has a control character or is not valid Unicode`
    : null
}
