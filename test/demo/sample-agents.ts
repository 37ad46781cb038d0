/** `npm run demo -- --agents`: an MCP server with two tools, one of which the sample caller may not use. */

import type { Config } from '../../src/config/config.ts'
import { contentHash } from '../../src/config/content-hash.ts'
import { formatFault } from '../../src/config/faults.ts'
import { methodsOf } from '../../src/config/methods.ts'
import { openDocument } from '../../src/config/open-document.ts'
import { buildRoutes } from '../../src/config/table-entries.ts'
import { routesFile } from '../../src/config/table-settings.ts'

const UPSTREAM = 'tools'
const VERSION = '2026-07-28'

/** The table of the server. */
const tableFor = (resource: string) => `upstream: ${UPSTREAM}
mcp:
  path: /mcp
  resource: ${resource}
  tools:
    get_weather: weather:read
    delete_user: people:delete
`

/**
 * The configuration with the server beside the sample service.
 *
 * @param target the origin of the server
 * @param origin the origin of the gateway for clients
 */
export function withAgents(config: Config, target: string, origin: string): Config {
  const [first] = config.upstreams.values()
  if (first === undefined) throw new Error(`${config.file} has no upstream`)
  const upstream = { ...first, name: UPSTREAM, targets: [new URL(target)], health: null, basePath: '' }
  const upstreams = new Map([...config.upstreams, [UPSTREAM, upstream]])
  const text = tableFor(`${origin}/mcp`)
  const { document, root } = openDocument('agents.yaml', { text }, routesFile.schema, {})
  const { entries } = buildRoutes(document, root, {
    upstreams: new Set(upstreams.keys()),
    passAuthorization: new Set(),
    tenants: new Set(config.tenants.keys()),
    signIn: new Set(),
    maxBody: config.limits.maxBody,
    methods: methodsOf(config),
    rateLimits: config.rateLimits,
  })
  for (const fault of document.faults) throw new Error(formatFault(fault))
  const routes = [...config.routes, ...entries]
  return { ...config, upstreams, routes, hash: contentHash(routes, { ...config, upstreams }) }
}

/** The lines that call the server. */
export function agentLines(url: string): string {
  const call = (caller: string, method: string, name: string | null) => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': VERSION,
      'io.modelcontextprotocol/clientInfo': { name: 'curl', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    const params = { ...(name === null ? {} : { name, arguments: {} }), _meta: meta }
    const named = name === null ? '' : ` -H 'Mcp-Name: ${name}'`
    return (
      `curl -i -H "Authorization: Bearer $${caller}" -H 'Space: main' -H 'Content-Type: application/json'` +
      ` -H 'Accept: application/json, text/event-stream' -H 'MCP-Protocol-Version: ${VERSION}'` +
      ` -H 'Mcp-Method: ${method}'${named} -d '${JSON.stringify({ jsonrpc: '2.0', id: 1, method, params })}' ${url}/mcp`
    )
  }
  return `
# 200: the tools of an MCP server that alice may use. It has another one: delete_user
${call('ALICE', 'tools/list', null)}

# 200: Seat Viewer has weather:read
${call('ALICE', 'tools/call', 'get_weather')}

# 403: none of alice's Seats has people:delete
${call('ALICE', 'tools/call', 'delete_user')}
`
}
