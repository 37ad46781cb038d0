/**
 * Clients make the gateway buffer as much of their messages as they can: memory stays within its bound, and others
 * are served.
 */

import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { memoryOf } from '../operations/process-status.ts'
import { startService } from '../operations/service.ts'
import { until } from '../support/until.ts'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { RawClient } from '../support/raw-client.ts'

const MiB = 1024 * 1024
const BOUND = 4 * MiB
/**
 * MiB that the process may grow by beyond the bound: the connections themselves, and garbage that is not collected
 * yet. Without the bound it grows by 240.
 */
const SLACK = 170
const BODIES = new Map<string | undefined, string | Buffer>([
  ['/docs/big', Buffer.alloc(256 * 1024, 'a')],
  ['/docs/last', 'last'],
])

/** Each ends a response to `/docs/late`. */
const answers: (() => void)[] = []
const { url } = await startService(t, 'main', (request, response) => {
  request.resume()
  if (request.url === '/docs/held') return
  if (request.url === '/docs/late') answers.push(() => response.end('late'))
  else response.end(BODIES.get(request.url) ?? 'served')
})

async function start(t: Test, bound: number) {
  const gateway = await startGatewayProcess(t, {
    target: url,
    upstream: ['connections: 4000', 'max_pending: 8000', 'response_timeout: 10m'],
    top: [`memory: { connections: ${bound / MiB}MiB }`, 'limits: { header_timeout: 10m }'],
  })
  await served(t, gateway, 50)
  return gateway
}

const GET = 'GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n'

async function served(t: Test, gateway: GatewayProcess, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const wire = new RawClient(gateway.port)
    const answer = await wire.send(GET).until('served')
    if (!answer.startsWith('HTTP/1.1 200')) t.fail(answer)
    wire.socket.destroy()
  }
}

const held = (gateway: GatewayProcess) => gateway.metric('seatgate_connection_memory_bytes')
const evictedCount = (gateway: GatewayProcess, of: string) =>
  gateway.metric(`seatgate_connections_relieved_total{of="${of}"}`)

/** Connections that do not read their responses. @param each called for each connection once it is open */
async function attack(t: Test, port: number, count: number, bytes: Buffer): Promise<Socket[]> {
  const sockets: Socket[] = []
  t.teardown(() => sockets.forEach((socket) => socket.destroy()))
  while (sockets.length < count) {
    const some = Array.from({ length: 100 }, () => connect(port, '127.0.0.1').on('error', () => {}))
    sockets.push(...some)
    await Promise.all(
      some.map((socket) => new Promise((resolve) => socket.once('connect', resolve).once('close', resolve))),
    )
    for (const socket of some) {
      socket.pause()
      socket.write(bytes)
    }
  }
  return sockets
}

async function holds(
  t: Test,
  gateway: GatewayProcess,
  { of, waves }: { of: string; waves: number },
  wave: () => Promise<unknown>,
) {
  for (let i = 0; i < waves; i++) {
    await wave()
    await served(t, gateway, 25)
    t.ok((await held(gateway)) <= BOUND, `${await held(gateway)} bytes`)
  }
  t.ok((await evictedCount(gateway, of)) > 0)
  await served(t, gateway, 25)
}

const gateway = await start(t, BOUND)

t.test('incomplete header sections; the memory of the process agrees', async (t) => {
  const before = memoryOf(gateway.pid)
  const head = Buffer.from(`GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(31_000)}`)
  await holds(t, gateway, { of: 'head', waves: 4 }, () => attack(t, gateway.port, 1500, head))
  const grown = memoryOf(gateway.pid, 'VmHWM') - before
  t.ok(grown < BOUND / MiB + SLACK, `grown by at most ${grown} MiB`)
})

t.test('pipelined requests behind a request without a response', async (t) => {
  const first = 'GET /docs/held HTTP/1.1\r\nHost: a\r\n\r\n'
  const ahead = Buffer.from(first + GET.repeat(3000))
  await holds(t, gateway, { of: 'ahead', waves: 2 }, () => attack(t, gateway.port, 200, ahead))
})

t.test('responses that clients do not read', async (t) => {
  // Socket buffers hold some megabytes of them.
  const many = Buffer.from('GET /docs/big HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(40))
  await holds(t, gateway, { of: 'request', waves: 2 }, () => attack(t, gateway.port, 100, many))
})

t.test('with a bound of 1 MiB', async (t) => {
  const gateway = await start(t, MiB)
  await t.test('an evicted connection gets a 503 where a response can still be written', (t) =>
    evictedAtHeads(t, gateway),
  )
  await t.test('a response in progress is completed, and pipelined requests are dropped', (t) =>
    evictedBehindResponses(t, gateway),
  )
})

async function evictedAtHeads(t: Test, gateway: GatewayProcess): Promise<void> {
  const partial = new RawClient(gateway.port).send(
    `GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(8_000)}`,
  )
  await until(async () => (await held(gateway)) >= 8_000, 'the partial header section')
  const wires = Array.from({ length: 40 }, () =>
    new RawClient(gateway.port).send(`GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: ${'a'.repeat(31_000)}`),
  )
  const ended = () => wires.filter(({ socket }) => socket.destroyed)
  await until(() => ended().length > 0, 'an eviction')
  t.notOk(partial.socket.destroyed, 'larger buffers of the same address are evicted first')
  for (const wire of ended()) {
    t.match(
      wire.received,
      /^HTTP\/1\.1 503 [\s\S]*\r\nRetry-After: 1\r\n[\s\S]*\r\nConnection: close\r\n[\s\S]*"unavailable"/,
    )
  }
  t.match(await partial.send('\r\n\r\n').until('served'), /^HTTP\/1\.1 200/)
  for (const { socket } of wires) socket.destroy()
}

async function evictedBehindResponses(t: Test, gateway: GatewayProcess): Promise<void> {
  // Few and large: the gateway sends each of them to the service.
  const large = GET.replace('Host: a', `Host: a\r\nX-A: ${'a'.repeat(500)}`)
  const bytes = GET.replace('/a', '/late') + large.repeat(100) + GET.replace('/a', '/last')
  const wires = Array.from({ length: 30 }, () => new RawClient(gateway.port).send(bytes))
  await until(
    async () => answers.length === wires.length && (await evictedCount(gateway, 'ahead')) > 0,
    'an eviction',
  )
  t.ok((await held(gateway)) <= MiB)
  for (const answer of answers) answer()
  // All responses, or the end of the connection.
  await Promise.all(wires.map((wire) => wire.until(/last$/).catch(() => {})))
  const received = wires.map((wire) => wire.received)
  t.ok(
    received.every((each) => each.startsWith('HTTP/1.1 200')),
    'each has its first response',
  )
  const cut = received.filter((each) => !each.includes('served'))
  t.ok(cut.length > 0)
  for (const each of cut) t.match(each, /\r\nConnection: close\r\n[\s\S]*\r\nlate$/)
  t.ok(
    received.some((each) => each.endsWith('last')),
    'others have all their responses',
  )
}
