/** WebSockets are opened up to the limit: neither other requests nor other callers are blocked. */

import t, { type Test } from 'tap'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import {
  type WebSocketClient,
  sendHandshake,
  startWebSocketUpstream,
  type UpstreamBehaviour,
} from '../websocket/support.ts'
import { RawClient } from '../support/raw-client.ts'
import { metric } from '../support/operations.ts'

async function start(
  t: Test,
  limits: string,
  top: readonly string[] = [],
  behaviour: UpstreamBehaviour = {},
) {
  const upstream = await startWebSocketUpstream(t, behaviour)
  const world = await startWorld(t, {
    routes: ['GET /open: public', 'GET /mine: authenticated', 'GET /docs/*: public'],
    target: upstream.url,
    top: [`limits: { ${limits} }`, ...top],
  })
  const clients: WebSocketClient[] = []
  t.teardown(() => clients.forEach(({ socket }) => socket.destroy()))
  const shakes = async (count: number, path: string, lines: readonly string[] = []): Promise<number[]> => {
    const some = Array.from({ length: count }, () => sendHandshake(world.port, path, lines))
    clients.push(...some)
    await until(() => some.every(({ status }) => status !== 0), 'the answers')
    return some.map(({ status }) => status)
  }
  const caller = async (sub: string, tenant = 'acme') => [
    `Authorization: Bearer ${await world.token([], { sub, tenant })}`,
  ]
  const refused = (bound: string) => metric(world, `seatgate_websockets_refused_total{bound="${bound}"}`)
  return { world, clients, shakes, caller, refused }
}

const count = (statuses: readonly number[], status: number) =>
  statuses.filter((each) => each === status).length

t.test('at the limit for WebSockets, other requests are still served', async (t) => {
  const { world, clients, shakes, refused } = await start(t, 'connections: 32, websockets_per_caller: 18')
  const statuses = await shakes(32, '/open')
  t.same([count(statuses, 101), count(statuses, 503)], [18, 14])
  t.equal(await refused('caller'), 14)
  t.match(
    clients.find(({ status }) => status === 503)?.http,
    /\r\nRetry-After: 1\r\n[\s\S]*"code":"unavailable"/,
  )
  for (let i = 0; i < 20; i++) {
    const wire = new RawClient(world.port).send('GET /docs/a HTTP/1.1\r\nHost: a\r\n\r\n')
    t.match(await wire.until('plain'), /^HTTP\/1\.1 200/)
  }
  t.equal(await metric(world, 'seatgate_websockets_open'), 18)
  // One that ends makes room for one.
  clients.find(({ open }) => open)?.socket.destroy()
  await until(() => clients.filter(({ closed }) => closed).length === 15, 'its end')
  await until(
    async () => count(await shakes(1, '/open'), 101) === 1,
    () => 'there is no room',
  )
  t.equal(count(await shakes(2, '/open'), 503), 2)
})

t.test('limits of a caller, of a tenant, and in total', async (t) => {
  const limits = 'connections: 100, websockets: 20, websockets_per_tenant: 12, websockets_per_caller: 5'
  const { world, shakes, caller, refused } = await start(t, limits)
  t.equal(count(await shakes(10, '/mine', await caller('alice')), 101), 5)
  t.equal(await refused('caller'), 5)
  t.equal(
    count(await shakes(5, '/mine', [`x-api-key: ${world.keys['acme']}`]), 101),
    5,
    'her key is a caller of its own',
  )
  t.equal(count(await shakes(5, '/mine', await caller('bob')), 101), 2)
  t.equal(await refused('tenant'), 3)
  t.equal(
    count(await shakes(5, '/mine', await caller('alice', 'globex')), 101),
    5,
    "another tenant's alice is another caller",
  )
  t.equal(count(await shakes(5, '/open'), 101), 3)
  t.equal(await refused('all'), 2)
  t.equal(
    count(await shakes(2, '/mine', ['Authorization: Bearer no']), 401),
    2,
    'authorized before it is counted',
  )
})

t.test('failed handshakes take no place', async (t) => {
  const { shakes, caller, refused, world } = await start(t, 'connections: 100, websockets_per_caller: 3')
  const alice = await caller('alice')
  for (let i = 0; i < 5; i++)
    t.equal(count(await shakes(2, '/mine', [...alice, 'Sec-WebSocket-Key: x']), 400), 2)
  t.equal(count(await shakes(3, '/mine', alice), 101), 3)
  t.equal(await refused('caller'), 0)
  t.equal(await metric(world, 'seatgate_websockets_open'), 3)
})

t.test('a refused handshake takes its place no longer than its client stays', async (t) => {
  let left = 0
  const answer: UpstreamBehaviour['answer'] = (_request, socket) => {
    socket
      .on('close', () => left++)
      .on('end', () => socket.end())
      .resume()
    socket.write('HTTP/1.1 403 Forbidden\r\nContent-Length: 10\r\n\r\nab')
  }
  const { world, clients, shakes, caller, refused } = await start(
    t,
    'connections: 100, websockets_per_caller: 2',
    [],
    { answer },
  )
  const alice = await caller('alice')
  for (let round = 1; round <= 3; round++) {
    t.same(await shakes(2, '/mine', alice), [403, 403])
    for (const { socket } of clients.splice(0)) socket.end()
    await until(() => left === round * 2, 'the end at the upstream')
    await until(
      async () => (await metric(world, 'seatgate_requests_in_flight')) === 0,
      () => 'requests are in flight',
    )
  }
  t.equal(await refused('caller'), 0)
})

t.test('callers of public routes behind a proxy are its clients', async (t) => {
  const limits = 'connections: 100, websockets_per_caller: 3'
  const { shakes, refused } = await start(t, limits, ['trusted_proxies: [127.0.0.1]'])
  t.equal(count(await shakes(5, '/open', ['X-Forwarded-For: 198.51.100.9, 192.0.2.1:1234']), 101), 3)
  t.equal(count(await shakes(3, '/open', ['X-Forwarded-For: 192.0.2.2']), 101), 3)
  t.equal(
    count(await shakes(5, '/open', ['X-Forwarded-For: "[2001:db8::1]:1"']), 101),
    3,
    'unknown clients count as one',
  )
  t.equal(count(await shakes(5, '/open', ['X-Forwarded-For: [2001:db8::1]:1']), 101), 3)
  t.equal(await refused('caller'), 6)
})

t.test('the waiting requests of one caller do not keep the handshake of another one out', async (t) => {
  const held: (() => void)[] = []
  const { url } = await startWebSocketUpstream(t, {
    serve: (_request, response) => void held.push(() => response.end('plain')),
  })
  const world = await startWorld(t, {
    routes: ['GET /mine: authenticated'],
    target: url,
    upstream: ['connections: 1', 'max_pending: 3'],
  })
  const authorization = async (sub: string) =>
    `Authorization: Bearer ${await world.token([], { sub, tenant: 'acme' })}`
  const [alice, bob] = [await authorization('alice'), await authorization('bob')]
  const wires = Array.from({ length: 3 }, () => new RawClient(world.port))
  t.teardown(() => wires.forEach(({ socket }) => socket.destroy()))
  for (const wire of wires) wire.send(`GET /mine HTTP/1.1\r\nHost: a\r\n${alice}\r\n\r\n`)
  await until(() => held.length === 1, 'the first request at the upstream')
  await until(
    async () => (await metric(world, 'seatgate_requests_in_flight')) === 3,
    () => 'not all are in flight',
  )
  const own = await sendHandshake(world.port, '/mine', [alice]).gone()
  t.same([own.status, own.code], [503, 'unavailable'], 'the caller with the most gets no more')
  const client = await sendHandshake(world.port, '/mine', [bob]).opened()
  client.socket.destroy()
  await until(() => wires.some(({ received }) => received !== ''), 'the eviction')
  const evicted = wires.filter(({ received }) => received !== '')
  t.equal(evicted.length, 1)
  t.match(evicted[0]?.received, /^HTTP\/1\.1 503 [^]*most of them of this caller/)
})
