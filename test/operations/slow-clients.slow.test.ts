/** Hundreds of clients at a time that are slow in every way: other clients are served as usual. */

import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { type GatewayProcess, startGatewayProcess } from '../support/gateway-process.ts'
import { until } from '../support/until.ts'
import { Load } from './load.ts'
import { memoryOf } from './process-status.ts'
import { startService } from './service.ts'
import { open, WireClient } from './wire-client.ts'

const CLIENTS = 300
/** That do not read their responses: 800 MiB. */
const READERS = 100
/** Bytes: more than the kernel takes of a response that its client does not read. */
const BIG = Buffer.alloc(8 * 1024 * 1024, 'a')

/** A slow body or response holds an upstream connection: enough for all, so that none is closed, or far too few. */
const ENOUGH = ['connections: 1024', 'max_pending: 2048']
const FEW = ['connections: 64']

const ROUTES = [
  'GET /docs/*: public',
  'GET /big: public',
  'POST /docs/*: { permission: public, max_body: unlimited }',
]

const { url } = await startService(t, 'main', (request, response) => {
  request.resume()
  if (request.url === '/big') response.end(BIG)
  else if (request.method === 'GET') response.end('ok')
  else request.on('end', () => response.end('ok'))
})

function start(t: Test, limits: string, upstream: readonly string[] = ENOUGH): Promise<GatewayProcess> {
  const top = [`limits: { ${limits} }`]
  return startGatewayProcess(t, { target: url, upstream, top, routes: ROUTES })
}

/** Connects the clients, and sends a byte a second on each. */
async function slow(
  t: Test,
  gateway: GatewayProcess,
  head: string,
  { byte = null, clients = CLIENTS }: { byte?: string | null; clients?: number } = {},
): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < clients) {
    const some = await Promise.all(Array.from({ length: 100 }, () => open(gateway.port)))
    sockets.push(...some.filter((socket) => socket !== null))
  }
  for (const socket of sockets) {
    socket.pause()
    socket.write(head)
  }
  const dribble = setInterval(() => {
    if (byte !== null) for (const socket of sockets) if (socket.writable) socket.write(byte)
  }, 1000)
  t.teardown(() => {
    clearInterval(dribble)
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}

/** Requests of other clients meanwhile, on kept and on new connections. */
async function served(t: Test, gateway: GatewayProcess, requests: number): Promise<void> {
  const load = new Load({ port: gateway.port, rate: 200, clients: 20, fresh: 0.5 })
  await load.more(requests)
  await load.stop()
  t.same(load.failures, [])
  t.equal(load.refused, 0)
}

async function active(gateway: GatewayProcess, holds: (count: number) => boolean): Promise<void> {
  let count = 0
  await until(
    async () => holds((count = await gateway.metric('seatgate_connections{state="active"}'))),
    () => `${count} connections are active`,
  )
}

/** Resolves once all of the slow clients' requests have ended. */
async function ended(
  gateway: GatewayProcess,
  route: string,
  status: number,
  clients = CLIENTS,
): Promise<void> {
  const series = `seatgate_requests_total{route="${route}",status="${status}"}`
  let count = 0
  await until(
    async () => (count = await gateway.metric(series)) === clients,
    () => `${count} requests have ended: ${series}`,
  )
}

t.test('header sections, beyond the limit of connections', async (t) => {
  const gateway = await start(t, 'connections: 100, header_timeout: 5m')
  await slow(t, gateway, 'GET /docs/a HTTP/1.1\r\nX-A: ', { byte: 'a' })
  await served(t, gateway, 300)
  t.ok((await gateway.metric('seatgate_connections_evicted_total{state="opening"}')) >= CLIENTS - 100)
  t.equal(await gateway.metric('seatgate_connections_refused_total{reason="limit"}'), 0)
})

t.test('enough upstream connections', async (t) => {
  const gateway = await start(t, 'header_timeout: 5m')

  t.test('header sections, a byte a second', async (t) => {
    await slow(t, gateway, 'GET /docs/a HTTP/1.1\r\nX-A: ', { byte: 'a' })
    await served(t, gateway, 300)
  })

  t.test('request bodies, a byte a second', async (t) => {
    const sockets = await slow(t, gateway, 'POST /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n', {
      byte: 'a',
    })
    await active(gateway, (count) => count > CLIENTS / 2)
    await served(t, gateway, 300)
    for (const socket of sockets) socket.resume()
    await ended(gateway, 'POST /docs/*', 200)
  })
})

t.test('fewer upstream connections', async (t) => {
  const gateway = await start(t, 'header_timeout: 5m', FEW)

  t.test('request bodies, a byte a second', async (t) => {
    await slow(t, gateway, 'POST /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n', { byte: 'a' })
    await active(gateway, (count) => count > CLIENTS / 2)
    await served(t, gateway, 300)
  })

  t.test('unread responses', async (t) => {
    await active(gateway, (count) => count <= 1)
    await slow(t, gateway, 'GET /big HTTP/1.1\r\nHost: a\r\n\r\n', { clients: READERS })
    await active(gateway, (count) => count > READERS / 2)
    const client = new WireClient(gateway.port, true)
    t.teardown(() => client.close())
    for (let i = 0; i < 20; i++)
      t.match(await client.send('GET', '/docs/a'), { kind: 'answer', status: 200 }, 'answered in its turn')
  })
})

t.test('a body timeout', async (t) => {
  const gateway = await start(t, 'header_timeout: 5m, body_timeout: 3s')

  t.test('request bodies that stop', async (t) => {
    await slow(t, gateway, 'POST /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na')
    await served(t, gateway, 300)
    await ended(gateway, 'POST /docs/*', 408)
  })

  t.test('unread responses', async (t) => {
    await slow(t, gateway, 'GET /big HTTP/1.1\r\nHost: a\r\n\r\n', { clients: READERS })
    await served(t, gateway, 300)
    await ended(gateway, 'GET /big', 200, READERS)
    await active(gateway, (count) => count === 0)
    const peak = memoryOf(gateway.pid, 'VmHWM')
    t.ok(peak < 400, `${peak.toFixed(0)} MiB at the peak`)
  })
})
