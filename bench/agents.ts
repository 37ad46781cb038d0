/**
 * `node bench/agents.ts [--only PART[,PART]] [--turns N] [--quick]`: what a call of an MCP server costs the gateway
 * beside a plain POST of the same bytes, in turns of one run, and how soon a tool that is taken away is gone for
 * calls in flight. Prints tables in Markdown. `--quick` is a trial: all is smaller.
 */

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { openStore } from '../seats-admin/index.ts'
import { agentsTable, requestOf, tool } from '../test/pipeline/mcp/support.ts'
import { bootstrapIn } from '../test/support/bootstrapped-store.ts'
import { GatewayProcess, SECRET } from '../test/support/gateway-process.ts'
import { listen } from '../test/support/listen.ts'
import { type Ending, refuse, runBench, say } from './harness.ts'
import { cpuOf } from './process-tree.ts'
import { machine } from './results.ts'
import { median, quantile } from './statistics.ts'
import { token } from './world.ts'

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: 'cost,cuts' },
    turns: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
})
const { quick } = values
const turns = Number(values.turns ?? (quick ? 2 : 20))
/** Connections of the load, and streams that are open at once. */
const CONNECTIONS = 32
const STREAMS = quick ? 20 : 200
/** Milliseconds of a turn, and the age of the streams: an exchange is decided again from one second on. */
const TURN = quick ? 500 : 2000
const AGE = 1200

/** A call of 750 bytes, whose answer is small. */
const CALL = tool('get_weather', { arguments: { note: 'x'.repeat(600) } })
const ANSWER = '{"jsonrpc":"2.0","id":1,"result":{"content":[]}}'
const LASTING = tool('watch')

interface Setup {
  readonly gateway: GatewayProcess
  /** The address of the front door. `gateway` looks for it in its whole log each time. */
  readonly origin: string
  readonly port: number
  readonly bearer: string
  readonly key: string
  readonly seat: string
}

async function start(ending: Ending): Promise<Setup> {
  const upstream = createServer((request, response) => {
    const isLasting = request.headers['mcp-name'] === 'watch'
    request.resume().on('end', () => (isLasting ? begin(response) : answer(response)))
  })
  const gateway = new GatewayProcess(ending, {
    target: `http://127.0.0.1:${await listen(ending.t, upstream)}`,
    routes: ['POST /plain: weather:read'],
    tables: {
      'agents.yaml': agentsTable({ lines: ['tools: { get_weather: weather:read, watch: weather:read }'] }),
    },
  })
  const store = await openStore({ kind: 'sqlite', path: join(gateway.folder, 'seatgate.db') })
  const key = await bootstrapIn(store, 'acme')
  await store.close()
  await gateway.start()
  await gateway.listens()
  const { origin, port } = gateway
  const bearer = token({ secret: SECRET }, { tenant: 'acme', hashPerm: ['main:Agent'] })
  const body = { name: 'Agent', spaces: ['main'], permissions: ['weather:read'] }
  const { id } = (await admin({ origin, key }, 'POST', '/v1/seats', body)) as { id: string }
  return { gateway, origin, port, bearer, key, seat: id }
}

function answer(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'application/json', 'content-length': ANSWER.length }).end(ANSWER)
}

function begin(response: ServerResponse): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': begun\n\n')
}

async function admin(
  { origin, key }: Pick<Setup, 'origin' | 'key'>,
  method: string,
  path: string,
  body: unknown,
): Promise<unknown> {
  const headers = { 'x-api-key': key, space: 'admin', 'content-type': 'application/json' }
  const response = await fetch(origin + path, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

function open(port: number): Socket {
  return connect({ port, host: '127.0.0.1', noDelay: true }).setEncoding('latin1')
}

/** CPU microseconds of the gateway for each request of a turn. */
async function costOf({ gateway, port, bearer }: Setup, target: string): Promise<number> {
  const bytes = requestOf(CALL, { token: bearer, target })
  const before = cpuOf([gateway.pid])
  const until = Date.now() + TURN
  let count = 0
  const load = async () => {
    const socket = open(port)
    for (; Date.now() < until; count++) {
      socket.write(bytes)
      let text = ''
      while (!text.endsWith(ANSWER)) text += (await once(socket, 'data'))[0]
      if (!text.startsWith('HTTP/1.1 200 ')) throw new Error(text)
    }
    socket.destroy()
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, load))
  return (cpuOf([gateway.pid]) - before) / count
}

async function measureCost(setup: Setup): Promise<string> {
  const costs: { plain: number; call: number; ratio: number }[] = []
  // The first turn warms up.
  for (let at = 0; at <= turns; at++) {
    const [plain, call] = [await costOf(setup, '/plain'), await costOf(setup, '/mcp')]
    if (at > 0) costs.push({ plain, call, ratio: call / plain })
    say(`turn ${at}: ${plain.toFixed(0)} and ${call.toFixed(0)} µs`)
  }
  const of = (key: 'plain' | 'call') => median(costs.map((each) => each[key])).toFixed(1)
  const ratios = costs.map(({ ratio }) => ratio)
  const ratio = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2)).join(', ')
  return `| turns | plain POST, µs CPU | call, µs CPU | ratio: quartiles |
|---|---|---|---|
| ${turns} | ${of('plain')} | ${of('call')} | ${ratio} |`
}

interface Stream {
  /** Resolves with the time at which the client has the error, in ms since the epoch. */
  readonly end: Promise<number>
}

/** Resolves once the stream has begun. */
async function openStream({ port, bearer }: Setup): Promise<Stream> {
  const socket = open(port)
  socket.write(requestOf(LASTING, { token: bearer }))
  let text = ''
  while (!text.includes(': begun')) text += (await once(socket, 'data'))[0]
  return { end: ended(socket) }
}

async function ended(socket: Socket): Promise<number> {
  const [text] = await once(socket, 'data')
  if (!/"code":-32001/.test(text)) throw new Error(`no error: ${text}`)
  socket.destroy()
  return Date.now()
}

async function measureCuts(setup: Setup): Promise<string> {
  const times: number[] = []
  const change = (permission: string) =>
    admin(setup, 'PUT', `/v1/seats/${setup.seat}`, { permissions: [permission] })
  for (let at = 0; at < turns; at++) {
    const streams = await Promise.all(Array.from({ length: STREAMS }, () => openStream(setup)))
    await sleep(AGE)
    await change('other:read')
    const answered = Date.now()
    times.push(
      ...(await Promise.all(streams.map(({ end }) => end))).map((end) => Math.max(0, end - answered)),
    )
    await change('weather:read')
  }
  const [p50, p99, most] = [0.5, 0.99, 1].map((share) => quantile(times, share))
  return `| turns | streams | ended after the answer, ms: p50 | p99 | last |
|---|---|---|---|---|
| ${turns} | ${STREAMS} | ${p50} | ${p99} | ${most} |`
}

const parts: Readonly<Record<string, (setup: Setup) => Promise<string>>> = {
  cost: measureCost,
  cuts: measureCuts,
}
const only = values.only.split(',')
if (!only.every((name) => name in parts) || !(turns >= 1))
  refuse(`the parts are ${Object.keys(parts).join(', ')}; --turns is at least 1`)

await runBench(async (ending) => {
  const setup = await start(ending)
  for (const name of only) console.log(`${await parts[name]?.(setup)}\n\n${machine()}\n`)
})
