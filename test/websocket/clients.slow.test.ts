/** Real clients: Node's own WebSocket, many at once, and TLS to the upstream. */

import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import t, { type Test } from 'tap'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { until } from '../support/until.ts'
import { startWorld, type WorldOptions } from '../support/world.ts'
import {
  type WebSocketClient,
  sendHandshake,
  startWebSocketUpstream,
  type UpstreamBehaviour,
} from './support.ts'
import { metricsOf } from '../support/operations.ts'

async function setUp(t: Test, behaviour: UpstreamBehaviour = {}, options: WorldOptions = {}) {
  const upstream = await startWebSocketUpstream(t, behaviour)
  const routes = ['GET /ws: trainings:list', 'GET /open: public']
  const world = await startWorld(t, { routes, target: upstream.url, ...options })
  await world.seat('Viewer', ['s1'], ['trainings:list'])
  const headers = { authorization: `Bearer ${await world.token(['s1:Viewer'])}`, space: 's1' }
  /** undici's WebSocket, which accepts headers, unlike a browser's. */
  const open = (path: string, more: object = {}) =>
    new WebSocket(`ws://127.0.0.1:${world.port}${path}`, { headers, ...more } as unknown as string[])
  return { world, upstream, open }
}

t.test("Node's client: messages of all sizes, both kinds, and Close with its reason", async (t) => {
  const { open } = await setUp(t)
  const socket = open('/ws')
  socket.binaryType = 'arraybuffer'
  await once(socket, 'open')
  for (const size of [0, 1, 125, 126, 65_535, 65_536, 1_000_000]) {
    const sent = randomBytes(size)
    socket.send(sent)
    const [{ data }] = (await once(socket, 'message')) as [{ data: ArrayBuffer }]
    t.ok(sent.equals(Buffer.from(data)), `${size} bytes`)
  }
  socket.send('text, ünïcödé 🎫')
  const [{ data }] = (await once(socket, 'message')) as [{ data: string }]
  t.equal(data, 'text, ünïcödé 🎫')
  socket.close(3456, 'enough')
  const [close] = (await once(socket, 'close')) as [CloseEvent]
  t.match(
    { code: close.code, reason: close.reason, clean: close.wasClean },
    { code: 3456, reason: 'enough', clean: true },
  )
})

t.test("Node's client: a refusal is an error, and the removal of a Seat a 1008", async (t) => {
  const { world, open } = await setUp(t)
  const refused = open('/ws', { headers: {} })
  t.match(await once(refused, 'error'), [{ type: 'error' }])
  const socket = open('/ws')
  await once(socket, 'open')
  const { json } = await world.admin('GET', '/v1/seats')
  const id = json.data.find(({ name }: { name: string }) => name === 'Viewer').id
  const closing = once(socket, 'close')
  await world.admin('PUT', `/v1/seats/${id}`, { permissions: [] })
  const [close] = (await closing) as [CloseEvent]
  t.match({ code: close.code, reason: close.reason }, { code: 1008, reason: 'permission_denied' })
})

t.test('four hundred at once, each with its own messages', async (t) => {
  const { world, upstream } = await setUp(t, {}, { top: ['limits: { websockets_per_caller: 400 }'] })
  const clients: WebSocketClient[] = []
  for (let i = 0; i < 400; i += 100)
    clients.push(
      ...(await Promise.all(Array.from({ length: 100 }, () => sendHandshake(world.port, '/open').opened()))),
    )
  clients.forEach((client, i) => client.sendText(`word ${i}`))
  await Promise.all(clients.map((client, i) => client.receives(`word ${i}`)))
  t.equal(upstream.sockets.length, 400)
  t.match(await metricsOf(world), /^seatgate_websockets_open 400$/m)
  t.equal((await world.client.send('GET', '/open')).status, 200, 'others are served')
  for (const client of clients) client.socket.destroy()
  await until(() => upstream.sockets.every(({ closed }) => closed), 'the end at the upstream')
  // The upstream's end of a connection may close before the client's.
  await until(async () => /^seatgate_websockets_open 0$/m.test(await metricsOf(world)), 'the end of all')
})

t.test('TLS to an upstream that requires a certificate', async (t) => {
  const { files, server } = CERTIFICATES
  const mutual = { ...server, requestCert: true, rejectUnauthorized: true }
  const keys = (more: string) => ({ upstream: [`tls: { ca: ${files.ca}${more} }`] })
  const { world, open, upstream } = await setUp(
    t,
    { tls: mutual },
    keys(`, cert: ${files.client}, key: ${files.clientKey}`),
  )
  const socket = open('/ws')
  await once(socket, 'open')
  socket.send('over TLS')
  const [{ data }] = (await once(socket, 'message')) as [{ data: string }]
  t.equal(data, 'over TLS')
  t.equal(upstream.sockets[0]?.request.headers['x-seatgate-user'], 'alice')
  socket.close()
  await once(socket, 'close')
  t.ok(world.port)
})

t.test('TLS to an upstream whose certificate is not trusted: a 502', async (t) => {
  const { world, upstream } = await setUp(t, { tls: CERTIFICATES.server })
  const client = await sendHandshake(world.port, '/open').gone()
  t.same([client.status, client.code], [502, 'upstream_unreachable'])
  t.equal(upstream.sockets.length, 0)
})
