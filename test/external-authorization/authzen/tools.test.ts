/** Questions and searches about tools, prompts and resources of MCP servers. */

import t from 'tap'
import { agentsTable } from '../../pipeline/mcp/support.ts'
import { startPep } from './support.ts'

const lines = [
  'tools: { get_weather: weather:read, delete_user: users:delete }',
  'resources: { "docs://handbook/*": docs:read }',
]
const other = agentsTable({ lines: ['tools: { delete_user: weather:read }'] }).replaceAll('/mcp', '/other')
const { world, ask, decide } = await startPep(t, {
  tables: { 'agents.yaml': agentsTable({ lines }), 'others.yaml': other },
})
await world.seat('Reader', ['main'], ['weather:read', 'docs:read'])

const about = (type: string, id: string, action: string) => ({
  subject: { type: 'seat', id: 'Reader' },
  action: { name: action },
  resource: { type, id },
  context: { space: 'main' },
})

t.test('decisions', async (t) => {
  const reason = async (...asked: Parameters<typeof about>) => (await decide(about(...asked))).split(' ')[1]
  t.equal(await reason('tool', 'get_weather', 'tools/call'), 'allow')
  t.equal(await reason('tool', '/mcp#get_weather', 'tools/call'), 'allow')
  t.equal(await reason('tool', '/mcp#delete_user', 'tools/call'), 'permission_denied')
  t.equal(await reason('tool', '/other#delete_user', 'tools/call'), 'allow')
  t.equal(await reason('tool', 'delete_user', 'tools/call'), 'route_not_found', 'two servers have it')
  t.equal(await reason('tool', 'get_*', 'tools/call'), 'route_not_found')
  t.equal(await reason('tool', 'get_weather', 'prompts/get'), 'method_not_allowed')
  t.equal(await reason('resource', 'docs://handbook/a', 'resources/read'), 'allow')
  t.equal(await reason('resource', 'docs://handbook/../a', 'resources/read'), 'route_not_found')
  t.equal(await reason('prompt', 'get_weather', 'prompts/get'), 'route_not_found')
  t.equal(await reason('route', '/mcp#get_weather', 'tool'), 'route_not_found')
})

t.test('searches', async (t) => {
  const { json } = await ask('/access/v1/search/resource', {
    ...about('tool', '', 'tools/call'),
    resource: { type: 'tool' },
  })
  t.same(json.results, [
    { type: 'tool', id: '/other#delete_user' },
    { type: 'tool', id: 'get_weather' },
  ])
  const actions = await ask('/access/v1/search/action', {
    ...about('tool', 'get_weather', ''),
    action: undefined,
  })
  t.same(actions.json.results, [{ name: 'tools/call' }])
})
