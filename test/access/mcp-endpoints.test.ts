/** The endpoints about access and routes, for the tools of an MCP server. */

import t from 'tap'
import { send, startMcp, tool } from '../pipeline/mcp/support.ts'

const world = await startMcp(t)
const token = await world.token(['main:Reader'])

t.test('routes and decisions', async (t) => {
  t.equal((await send(world, tool('get_weather'), { token })).status, 200)
  t.equal((await send(world, tool('delete_user'), { token })).status, 403)
  const routes = (await world.admin('GET', '/v1/routes?q=get_weather')).json
  t.match(routes.data, [
    { method: 'tool', path: '/mcp#get_weather', permission: 'weather:read', requests: 1 },
  ])
  const decisions = (await world.admin('GET', '/v1/decisions')).json
  t.match(JSON.stringify(decisions), /tool \/mcp#delete_user/)
})

t.test('who can, can and explain', async (t) => {
  const who = await world.admin('GET', '/v1/access/who-can?method=tool&path=get_weather&space=main')
  t.match(who.json, {
    method: 'tool',
    path: 'get_weather',
    route: 'tool /mcp#get_weather',
    permission: 'weather:read',
    seats: [{ name: 'Reader' }],
  })
  const unknown = await world.admin('GET', '/v1/access/who-can?method=tool&path=other')
  t.match(unknown.json, { route: null, permission: null })
  const can = await world.admin('GET', '/v1/access/can?seat=Reader&space=main')
  t.match(JSON.stringify(can.json), /"path":"\/mcp#get_weather"/)
  t.notMatch(JSON.stringify(can.json), 'delete_user')
  const explain = (path: string) =>
    world.admin('POST', '/v1/access/explain', { method: 'tool', path, seats: ['Reader'], space: 'main' })
  t.match((await explain('get_weather')).json, {
    answer: 'allow',
    method: 'POST',
    path: '/mcp',
    route: { id: 'tool /mcp#get_weather' },
  })
  t.match((await explain('/mcp#delete_user')).json, { code: 'permission_denied' })
  t.match((await explain('other')).json, { code: 'route_not_found' })
})
