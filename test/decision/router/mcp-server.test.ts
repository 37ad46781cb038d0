/** The lines of an MCP server: which one a name has, and what matches at its path. */

import t from 'tap'
import { formatFault } from '../../../src/config/faults.ts'
import type { McpEndpoint } from '../../../src/model/route.ts'
import { compiled, configOf, mcpTables, server } from '../../access/mcp-tables.ts'

t.test('names and URIs', async (t) => {
  const { table } = await mcpTables(
    t,
    server(
      'tools: { get_weather: weather:read, admin/delete: users:delete }',
      'prompts: { get_weather: prompts:use }',
      'resources: { "docs://handbook/*": docs:read, "docs://handbook/pay/*": pay:read, "docs://handbook/pay/mine": authenticated, "docs://handbook/grün": pay:read, "file:///x": files:read }',
    ),
  )
  const [one] = table.servers
  const find: McpEndpoint['find'] = (kind, name) => one?.find(kind, name) ?? null
  const required = (...[kind, name]: Parameters<McpEndpoint['find']>) => find(kind, name)?.requirement ?? null
  t.equal(required('tool', 'get_weather'), 'weather:read')
  t.equal(required('prompt', 'get_weather'), 'prompts:use')
  t.equal(required('tool', 'admin/delete'), 'users:delete')
  for (const name of [
    'Get_weather',
    'get_weather ',
    'get_weather/',
    'get_*',
    '*',
    '',
    'admin',
    '__proto__',
    'docs://handbook/a',
  ])
    t.equal(find('tool', name), null, name)
  t.equal(required('resource', 'docs://handbook/'), 'docs:read')
  t.equal(required('resource', 'docs://handbook/a/b?c#d'), 'docs:read')
  t.equal(required('resource', 'docs://handbook/pay/'), 'pay:read')
  t.equal(required('resource', 'docs://handbook/pay/roll'), 'pay:read')
  t.equal(required('resource', 'docs://handbook/pay/mine'), 'authenticated')
  t.equal(required('resource', 'file:///x'), 'files:read')
  for (const uri of [
    'docs://handbook',
    'DOCS://handbook/a',
    'docs://handbooks/a',
    'docs:/handbook/a',
    'file:///x/',
    'docs://handbook/*/../x',
    'docs://handbook/..',
    'docs://handbook/./a',
    'docs://handbook/%2e%2E/a',
    'docs://handbook/a%2f..%2Fb',
    'docs://handbook/a\\..\\b',
    'docs://handbook/%252e%252e/a',
    'docs://handbook/a/..?x',
    'docs://handbook/a/..;x',
    'docs://handbook/a/.. ',
    'docs://handbook/a/.\t./x',
    'docs://handbook/p\tay/roll',
    'docs://handbook/p%61y/roll',
    'docs://handbook/p%2561y/roll',
    'docs://handbook/pay%2froll',
    'docs://handbook//pay/roll',
    'docs://handbook\\pay/roll',
    'docs://handbook/pay/mine?x',
    'docs://handbook/pay/mine%23x',
    'docs://handbook/pay/m%69ne',
    'docs://handbook/gr%C3%BCn',
  ])
    t.equal(find('resource', uri), null, uri)
  t.equal(required('resource', 'docs://handbook/pay/a%20b?x=%2f'), 'pay:read')
  t.equal(required('resource', 'docs://handbook/a..b/...'), 'docs:read', 'no dot segment')
})

t.test('a long URI costs no more than a short one', async (t) => {
  const { table } = await mcpTables(t, server('resources: { "docs://handbook/*": docs:read }'))
  const [one] = table.servers
  t.equal(one?.find('resource', `docs://handbook${'/'.repeat(1_000_000)}`)?.requirement, 'docs:read')
})

t.test('only POST matches at the path', async (t) => {
  const { table } = await mcpTables(t, `${server()}routes: { 'ANY /*': public, 'ANY /mcp/*': public }\n`)
  t.equal(table.match('POST', '/mcp')?.route.target.kind, 'mcp')
  for (const method of ['GET', 'DELETE', 'OPTIONS', 'PUT', 'HEAD', 'tool'])
    t.equal(table.match(method, '/mcp'), null, method)
  t.same(table.allowedMethods('/mcp'), ['POST'])
  t.equal(table.match('POST', '/mcp/')?.route.id, 'ANY /mcp/*')
  t.equal(table.match('POST', '/mcp#get_weather')?.route.id, 'ANY /*', 'no request target has a #')
})

t.test('nothing else may be at the path', async (t) => {
  const faults = async (...tables: readonly string[]) =>
    compiled(await configOf(t, tables)).faults.map((fault) => formatFault(fault))
  for (const method of ['POST', 'GET', 'ANY'])
    for (const order of [0, 1]) {
      const tables = [server(), `routes: { '${method} /mcp': public }\n`]
      const [one, ...others] = await faults(...(order === 0 ? tables : tables.toReversed()))
      t.match(one, /matches the same requests as/, `${method} ${order}`)
      t.equal(others.length, 0)
    }
  t.match((await faults(server(), server())).join(), /POST \/mcp: matches the same requests/)
  t.match(
    (await faults(server().replace('path: /mcp', 'path: /v1/seats'))).join(),
    /collides with a built-in path/,
  )
  t.same(await faults(`host: a.example\n${server()}`, `host: b.example\n${server()}`), [])
})
