/** Calls in flight are decided again: a tool that was taken away is gone, with an error where the stream carries one. */

import type { ServerResponse } from 'node:http'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import type { World } from '../../support/world.ts'
import { agentsTable, type Message, requestOf, startMcp, tool } from './support.ts'

const NOTICE = 'data: {"jsonrpc":"2.0","method":"notifications/progress"}\n\n'
const LISTEN: Message = {
  method: 'subscriptions/listen',
  params: { notifications: { resourceSubscriptions: ['docs://handbook/a'] } },
  id: 'sub',
}

/** The begins of the responses, by the value of `x-begin` of their requests. */
const BEGINS: Readonly<Record<string, (response: ServerResponse) => void>> = {
  events: (response) => void stream(response).write(NOTICE),
  comment: (response) => void stream(response).write(`${NOTICE}: alive\r\n`),
  nothing: (response) => stream(response).flushHeaders(),
  'inside an event': (response) => void stream(response).write(`${NOTICE}data: {"jsonrpc"`),
  'inside JSON': (response) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).write('{"jsonrpc":'),
  'with a length': (response) =>
    void response
      .writeHead(200, { 'content-type': 'text/event-stream', 'content-length': '1000' })
      .write(NOTICE),
  'no response': () => {},
}

function stream(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' })
}

async function start(test: typeof t) {
  const cancelled: string[] = []
  const world = await startMcp(test, {
    answer: (request, response) => {
      const begin = String(request.headers['x-begin'])
      response.on('close', () => cancelled.push(begin))
      BEGINS[begin]?.(response)
    },
  })
  const token = await world.token(['main:Reader'])
  return { world, token, cancelled }
}

async function open(world: World, token: string, begin: string, message: Message = tool('get_weather')) {
  const client = new RawClient(world.port)
  client.send(requestOf(message, { token, fields: { 'X-Begin': begin } }))
  const seen = () => world.upstream.seen.some(({ headers }) => headers['x-begin'] === begin)
  await until(seen, `${begin} did not reach the server`)
  if (begin !== 'no response') await client.until('\r\n\r\n')
  return client
}

/** The last event of the response, if the response is complete; null if it was aborted. */
async function errorIn(client: RawClient) {
  const [answer] = (await client.responses(1)).all
  if (answer === undefined) return null
  const text = answer.body.startsWith('{') ? answer.body : (answer.body.split('data: ').at(-1) ?? '')
  return { status: answer.status, ...JSON.parse(text) }
}

t.test('a Seat loses the permission', async (t) => {
  const { world, token, cancelled } = await start(t as never)
  const { data } = (await world.admin('GET', '/v1/seats')).json
  const reader = data.find(({ name }: { name: string }) => name === 'Reader').id
  const names = Object.keys(BEGINS)
  const clients = await Promise.all(names.map((begin) => open(world, token, begin)))
  const listening = await open(world, token, 'events', LISTEN)
  const change = await world.admin('PUT', `/v1/seats/${reader}`, { permissions: ['other:read'] })
  t.equal(change.status, 200)
  const refused = { jsonrpc: '2.0', id: 1, error: { code: -32001, data: { code: 'permission_denied' } } }
  const answers = await Promise.all(clients.map(errorIn))
  const byName = Object.fromEntries(names.map((name, at) => [name, answers[at] ?? null]))
  for (const name of ['events', 'comment', 'nothing'])
    t.match(byName[name], { status: 200, ...refused }, name)
  for (const name of ['inside an event', 'inside JSON', 'with a length']) t.equal(byName[name], null, name)
  t.match(byName['no response'], { status: 403, ...refused })
  t.match(await errorIn(listening), { id: 'sub', error: { code: -32001 } })
  await until(
    () => cancelled.length === names.length + 1,
    () => `only ${cancelled.join()} ended at the server`,
  )
  t.same(
    world
      .log()
      .filter(({ mcp_name: name }) => name === 'get_weather')
      .map(({ code }) => code),
    names.map(() => 'permission_denied'),
  )
})

t.test('a line is taken from the table', async (t) => {
  const { world, token } = await start(t as never)
  const client = await open(world, token, 'events')
  const other = await open(world, token, 'nothing', LISTEN)
  const lines = ['tools: { other: weather:read }', 'resources: { "docs://handbook/*": docs:read }']
  writeFileSync(join(world.folder, 'routes/agents.yaml'), agentsTable({ lines }))
  await world.reload()
  t.match(await errorIn(client), {
    status: 200,
    id: 1,
    error: { code: -32602, data: { code: 'route_not_found' } },
  })
  t.notOk(other.isOver)
  t.notMatch(other.received, 'error')
  other.close()
})
