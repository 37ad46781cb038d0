/** MCP servers in candidate tables, and in questions of other proxies, which have no message. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startDeciding } from '../../external-authorization/support.ts'
import { metric } from '../../support/operations.ts'
import { until } from '../../support/until.ts'
import { agentsTable, send, startMcp, tool } from './support.ts'

t.test('candidate tables judge each call once, by its line', async (t) => {
  const world = await startMcp(t, { shadow: ['GET /a: public'] })
  const token = await world.token(['main:Reader'])
  const lines = ['tools: { get_weather: other:read, delete_user: users:delete, ping: public }']
  writeFileSync(join(world.folder, 'next/agents.yaml'), agentsTable({ lines }))
  await world.reload()
  const count = (result: string) => metric(world, `seatgate_shadow_decisions_total{result="${result}"}`)
  const before = await count('same')
  t.equal((await send(world, tool('get_weather'), { token })).status, 200)
  t.equal((await send(world, tool('delete_user'), { token })).status, 403)
  t.equal((await send(world, tool('ping'))).status, 200)
  t.equal((await send(world, tool('get_weather'), { token, body: '{' })).status, 400)
  await until(async () => (await count('same')) === before + 2, 'not all are judged')
  t.equal(await count('allow_to_deny'), 1)
  const line = world.log().find(({ mcp_name: name }) => name === 'get_weather')
  t.match(line, { shadow: 'permission_denied', bytes_in: 158 })
  t.match(
    world.log().find(({ mcp_name: name }) => name === 'delete_user'),
    { bytes_in: 158 },
  )
})

t.test('a question of another proxy about the path is refused', async (t) => {
  const { world, send: ask } = await startDeciding(t, { tables: { 'agents.yaml': agentsTable() } })
  await world.seat('Reader', ['main'], ['weather:read'])
  const authorization = `Bearer ${await world.token(['main:Reader'])}`
  const answer = await ask('GET', '/auth/forward', {
    authorization,
    space: 'main',
    'x-forwarded-method': 'POST',
    'x-forwarded-host': 'gw.example',
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': '/mcp',
    'mcp-method': 'tools/call',
    'mcp-name': 'get_weather',
  })
  t.equal(answer.status, 400)
  t.equal(answer.json.code, 'request_malformed')
})
