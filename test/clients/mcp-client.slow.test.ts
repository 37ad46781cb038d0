/** The official client and server of MCP, with the gateway between them and without it. */

import { createServer } from 'node:http'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import t, { type Test } from 'tap'
import { agentsTable } from '../pipeline/mcp/support.ts'
import { listen } from '../support/listen.ts'
import { sampleServer } from '../support/mcp-server.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'

const LINES = [
  'tools: { get_weather: weather:read, delete_user: users:delete, wait: weather:read, lost: public }',
  'prompts: { review: weather:read }',
  'resources: { "docs://handbook/*": docs:read }',
]

type Mode = 'auto' | { pin: string }

async function connected(
  t: Test,
  url: string,
  headers: Record<string, string>,
  mode: Mode = { pin: '2026-07-28' },
) {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode } })
  const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } })
  await client.connect(transport)
  t.teardown(() => client.close())
  return client
}

async function start(t: Test) {
  const server = sampleServer()
  const target = `http://127.0.0.1:${await listen(t, createServer(server.listener))}`
  const world = await startWorld(t, { target, tables: { 'agents.yaml': agentsTable({ lines: LINES }) } })
  const seat = await world.seat('Reader', ['main'], ['weather:read', 'docs:read'])
  const headers = { authorization: `Bearer ${await world.token(['main:Reader'])}`, space: 'main' }
  return { server, target, world, seat, headers, url: `http://127.0.0.1:${world.port}/mcp` }
}

async function outcome(call: Promise<unknown>): Promise<string> {
  return call.then(JSON.stringify, (error: unknown) => {
    const { code, message } = error as { code?: unknown; message: string }
    return `${String(code)}: ${message}`
  })
}

/** All that a client does, one after the other. */
async function run(client: Client) {
  return {
    tools: (await client.listTools()).tools.map(({ name }) => name),
    prompts: (await client.listPrompts()).prompts.map(({ name }) => name),
    resources: (await client.listResources()).resources.map(({ uri }) => uri),
    weather: await outcome(client.callTool({ name: 'get_weather' })),
    review: await outcome(client.getPrompt({ name: 'review' })),
    handbook: await outcome(client.readResource({ uri: 'docs://handbook/start' })),
  }
}

t.test('a run through the gateway is the run without it, but for what the caller may not use', async (t) => {
  const { server, target, headers, url } = await start(t)
  const plain = await run(await connected(t, `${target}/mcp`, {}))
  for (const mode of [{ pin: '2026-07-28' }, 'auto'] as const) {
    const client = await connected(t, url, headers, mode)
    t.same(await run(client), { ...plain, tools: ['get_weather', 'wait'] })
    server.called.length = 0
    t.match(
      await outcome(client.callTool({ name: 'delete_user' })),
      /Insufficient scope: required "users:delete"/,
    )
    t.match(
      await outcome(client.callTool({ name: 'lost' })),
      /lost/,
      'a line without a tool: the server answers',
    )
    t.match(await outcome(client.callTool({ name: 'no_line' })), /no line/)
    t.same(server.called, [])
  }
})

t.test('without a credential, the client learns where to get one', async (t) => {
  const { url } = await start(t)
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const error = await client.connect(new StreamableHTTPClientTransport(new URL(url))).then(
    () => null,
    (cause: unknown) => cause,
  )
  t.match(String(error), /401|[Uu]nauthorized|credential/)
})

t.test('a tool that is taken away ends for a call in flight', async (t) => {
  const { server, world, seat, headers, url } = await start(t)
  const client = await connected(t, url, headers)
  let isUnderWay = false
  const onprogress = () => void (isUnderWay = true)
  const call = outcome(client.callTool({ name: 'wait' }, { onprogress }))
  await until(() => isUnderWay, 'the stream has not begun')
  const change = await world.admin('PUT', `/v1/seats/${seat}`, { permissions: ['docs:read'] })
  t.equal(change.status, 200)
  t.match(await call, /-32001: .*weather:read/)
  await until(() => server.cancelled.includes('wait'), 'the server was not told')
  t.same(
    (await client.listTools()).tools.map(({ name }) => name),
    [],
  )
})
