/** 1,000 clients at a time that are slow in every way: other clients are served as usual. */

import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { until } from '../runtime/workers/support.ts'
import { OperatedGateway } from './gateway.ts'
import { Load } from './load.ts'
import { startService } from './service.ts'
import { open, WireClient } from './wire-client.ts'

const CLIENTS = 1000
const BIG = Buffer.alloc(4 * 1024 * 1024, 'a')

/** A slow body or response holds an upstream connection: enough for all, so that none is closed. */
const ENOUGH = ['connections: 2048', 'max_pending: 4096']

async function start(
  t: Test,
  top: readonly string[] = [],
  upstream: readonly string[] = ENOUGH,
): Promise<OperatedGateway> {
  const { url } = await startService(t, 'main', (request, response) => {
    request.resume()
    if (request.url === '/docs/big') response.end(BIG)
    else if (request.method === 'GET') response.end('ok')
    else request.on('end', () => response.end('ok'))
  })
  return OperatedGateway.start(t, { targets: [url], upstream, top })
}

/** Connects the clients, and sends a byte a second on each. */
async function slow(t: Test, gateway: OperatedGateway, head: string, byte: string | null): Promise<Socket[]> {
  const sockets: Socket[] = []
  while (sockets.length < CLIENTS) {
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
async function served(t: Test, gateway: OperatedGateway, requests: number): Promise<void> {
  const load = new Load({ port: gateway.port, rate: 200, clients: 20, fresh: 0.5 })
  await load.more(requests)
  await load.stop()
  t.same(load.failures, [])
  t.equal(load.refused, 0)
}

const count = (gateway: OperatedGateway, state: string) =>
  gateway.metric(`seatgate_connections{state="${state}"}`)

t.test('header sections, a byte a second', async (t) => {
  const gateway = await start(t, ['limits: { header_timeout: 3s }'])
  const sockets = await slow(t, gateway, 'GET /docs/a HTTP/1.1\r\nX-A: ', 'a')
  await served(t, gateway, 500)
  for (const socket of sockets) socket.resume()
  await until(() => sockets.every(({ destroyed }) => destroyed))
  t.pass('all of them are closed')
})

t.test('header sections, beyond the limit of connections', async (t) => {
  const gateway = await start(t, ['limits: { connections: 200, header_timeout: 60s }'])
  await slow(t, gateway, 'GET /docs/a HTTP/1.1\r\nX-A: ', 'a')
  await served(t, gateway, 500)
  t.ok((await gateway.metric('seatgate_connections_evicted_total{state="opening"}')) >= CLIENTS - 200)
  t.equal(await gateway.metric('seatgate_connections_refused_total{reason="limit"}'), 0)
})

t.test('request bodies, a byte a second', async (t) => {
  const gateway = await start(t)
  const sockets = await slow(t, gateway, 'POST /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n', 'a')
  await until(async () => (await count(gateway, 'active')) > CLIENTS / 2)
  await served(t, gateway, 500)
  for (const socket of sockets) socket.resume()
  await until(async () => (await count(gateway, 'active')) === 0)
  t.equal(await gateway.metric('seatgate_requests_total{route="POST /docs/*",status="200"}'), CLIENTS)
})

t.test('request bodies, a byte a second, with fewer upstream connections', async (t) => {
  const gateway = await start(t, [], [])
  await slow(t, gateway, 'POST /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5000\r\n\r\n', 'a')
  await until(async () => (await count(gateway, 'active')) > CLIENTS / 3)
  await served(t, gateway, 500)
})

t.test('request bodies that stop', async (t) => {
  const gateway = await start(t, ['limits: { body_timeout: 4s }'])
  await slow(t, gateway, 'POST /docs/a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\na', null)
  await until(async () => (await count(gateway, 'active')) > CLIENTS / 2)
  await served(t, gateway, 300)
  await until(async () => (await count(gateway, 'active')) === 0)
  t.equal(await gateway.metric('seatgate_requests_total{route="POST /docs/*",status="408"}'), CLIENTS)
})

t.test('unread responses, with fewer upstream connections', async (t) => {
  const gateway = await start(t, [], [])
  await slow(t, gateway, 'GET /docs/big HTTP/1.1\r\nHost: a\r\n\r\n', null)
  await until(async () => (await count(gateway, 'active')) > CLIENTS / 2)
  const client = new WireClient(gateway.port, true)
  t.teardown(() => client.close())
  for (let i = 0; i < 50; i++)
    t.match(await client.send('GET', '/docs/a'), { kind: 'answer', status: 200 }, 'answered in its turn')
})

t.test('unread responses', async (t) => {
  const gateway = await start(t, ['limits: { body_timeout: 2s }'])
  const sockets = await slow(t, gateway, 'GET /docs/big HTTP/1.1\r\nHost: a\r\n\r\n', null)
  await until(async () => (await count(gateway, 'active')) > CLIENTS / 2)
  await served(t, gateway, 500)
  await until(async () => (await count(gateway, 'active')) === 0)
  t.pass('all of them are closed')
  t.ok(gateway.rss('VmHWM') < 500, `${gateway.rss('VmHWM').toFixed(0)} MiB at the peak`)
  for (const socket of sockets) socket.destroy()
})
