/** The gateway closes idle and old WebSockets, and all of them at shutdown; and their metrics. */

import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { startWorld } from '../support/world.ts'
import { CLOSE, codeOf, fromClient, fromServer, header, PING, status, TEXT } from './frames.ts'
import { sendHandshake, startWebSocketUpstream, switching, type UpstreamBehaviour, until } from './support.ts'

const ROUTES = ['GET /ws: public']

async function setUp(t: Test, lines: readonly string[], behaviour: UpstreamBehaviour = {}) {
  const upstream = await startWebSocketUpstream(t, behaviour)
  const world = await startWorld(t, { routes: ROUTES, target: upstream.url, upstream: lines })
  const line = async () => {
    const found = () => world.log().find(({ path }) => path === '/ws')
    await until(() => found() !== undefined, 'the line')
    return found()
  }
  return { world, upstream, line }
}

t.test('idle: both ends get 1001 at a frame boundary', async (t) => {
  const { world, upstream, line } = await setUp(t, ['websocket_idle: 1s'])
  const client = await sendHandshake(world.port, '/ws').opened()
  client.sendText('hello')
  await client.receives('hello')
  await until(() => client.close !== undefined, 'Close')
  t.equal(client.close && codeOf(client.close), 1001)
  t.equal(client.close?.payload.subarray(2).toString(), 'idle')
  t.equal(client.close?.masked, false)
  client.write(fromClient(CLOSE, status(1001)))
  await client.gone()
  const [socket] = upstream.sockets
  await until(() => socket?.closed === true, 'the end at the upstream')
  t.equal(socket?.close && codeOf(socket.close), 1001)
  t.equal(socket?.close?.masked, true)
  t.equal(client.frames.filter(({ opcode }) => opcode === CLOSE).length, 1, 'once')
  t.match(await line(), { status: 101, ended_by: 'idle', close_code: 1001 })
})

t.test('a ping of either end counts as activity', async (t) => {
  const { world, upstream } = await setUp(t, ['websocket_idle: 1s'], { silent: true })
  const client = await sendHandshake(world.port, '/ws').opened()
  await until(() => upstream.sockets.length === 1, 'the socket')
  const [socket] = upstream.sockets
  for (let i = 0; i < 8; i++) {
    if (i % 2 === 0) client.write(fromClient(PING, ''))
    else socket?.socket.write(fromServer(PING, ''))
    await new Promise((resolve) => setTimeout(resolve, 300))
  }
  t.notOk(client.closed)
  t.equal(client.close, undefined)
  client.socket.destroy()
})

t.test('lifetime: the same, despite activity', async (t) => {
  const { world, upstream, line } = await setUp(t, ['websocket_lifetime: 1s'])
  const client = await sendHandshake(world.port, '/ws').opened()
  const talk = setInterval(() => client.closed || client.sendText('still here'), 50)
  await until(() => client.close !== undefined, 'Close')
  clearInterval(talk)
  t.equal(client.close && codeOf(client.close), 1001)
  t.equal(client.close?.payload.subarray(2).toString(), 'lifetime')
  client.write(fromClient(CLOSE, status(1001)))
  await client.gone()
  await until(() => upstream.sockets[0]?.closed === true, 'the end at the upstream')
  t.match(await line(), { ended_by: 'lifetime' })
})

t.test('ends that do not reply to Close are cut', async (t) => {
  const { world, upstream } = await setUp(t, ['websocket_idle: 1s'], { silent: true })
  const client = await sendHandshake(world.port, '/ws').opened()
  await until(() => client.close !== undefined, 'Close')
  await client.gone()
  await until(() => upstream.sockets[0]?.ended === true, 'the end at the upstream')
})

t.test('inside a frame no Close is sent: it is cut', async (t) => {
  const { world, upstream, line } = await setUp(t, ['websocket_idle: 1s'], { silent: true })
  const client = await sendHandshake(world.port, '/ws').opened()
  await until(() => upstream.sockets.length === 1, 'the socket')
  client.write(header(2, 1000, true))
  upstream.sockets[0]?.socket.write(header(2, 1000, false))
  await client.gone()
  t.equal(client.frames.length, 0)
  t.equal(client.reader.left, 4)
  await until(() => upstream.sockets[0]?.ended === true, 'the end at the upstream')
  t.equal(upstream.sockets[0]?.frames.length, 0)
  t.match(await line(), { ended_by: 'idle' })
})

t.test('the current frame passes before Close', async (t) => {
  const { world, upstream } = await setUp(t, ['websocket_lifetime: 1s'], { silent: true })
  const client = await sendHandshake(world.port, '/ws').opened()
  await until(() => upstream.sockets.length === 1, 'the socket')
  const [socket] = upstream.sockets
  const frame = fromServer(TEXT, 'whole after all')
  socket?.socket.write(frame.subarray(0, 5))
  await until(() => socket?.close !== undefined, 'Close at the upstream')
  t.equal(client.close, undefined, 'the client is in the middle of a frame')
  socket?.socket.write(Buffer.concat([frame.subarray(5), fromServer(TEXT, 'too late')]))
  await until(() => client.close !== undefined, 'Close')
  t.same(client.texts, ['whole after all'])
  client.socket.destroy()
})

t.test('drain: 1001 at its start, and the shutdown waits for both replies', async (t) => {
  const { world, upstream, line } = await setUp(t, [])
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => sendHandshake(world.port, '/ws').opened()),
  )
  await until(() => upstream.sockets.length === 20, 'the sockets')
  let ended = false
  const closed = world.gateway.close(20_000).then(() => {
    ended = true
  })
  await until(() => clients.every(({ close }) => close !== undefined), 'Close')
  for (const client of clients) {
    t.equal(client.close && codeOf(client.close), 1001)
    t.equal(client.close?.payload.subarray(2).toString(), 'going away')
  }
  t.notOk(ended)
  for (const client of clients) client.write(fromClient(CLOSE, status(1001)))
  await closed
  await Promise.all(clients.map((client) => client.gone()))
  t.match(await line(), { ended_by: 'drain', close_code: 1001 })
})

t.test('drain: remaining WebSockets are cut at its end', async (t) => {
  const { world, upstream } = await setUp(t, [], { silent: true })
  const client = await sendHandshake(world.port, '/ws').opened()
  client.write(header(2, 1000, true))
  await until(() => upstream.sockets[0]?.reader.left === 4, 'the frame')
  await world.gateway.close(300)
  await client.gone()
  await until(() => upstream.sockets[0]?.ended === true, 'the end at the upstream')
})

t.test('drain: one that opens meanwhile gets 1001 at once', async (t) => {
  const handshakes: { key: string; socket: Socket }[] = []
  const upstream = await startWebSocketUpstream(t, {
    answer: ({ headers }, socket) => handshakes.push({ key: headers['sec-websocket-key'] ?? '', socket }),
  })
  const world = await startWorld(t, { routes: ROUTES, target: upstream.url })
  const client = sendHandshake(world.port, '/ws')
  await until(() => handshakes.length === 1, 'the handshake')
  const closed = world.gateway.close(2000)
  for (const { key, socket } of handshakes) {
    socket.on('data', () => {}).on('end', () => socket.end())
    socket.write(switching(key))
  }
  await client.opened()
  await until(() => client.close !== undefined, 'Close')
  t.equal(client.close && codeOf(client.close), 1001)
  client.socket.end(fromClient(CLOSE, status(1001)))
  await closed
})

t.test('metrics: open ones, how they ended, and the handshake as a request', async (t) => {
  const { world, upstream, line } = await setUp(t, [])
  const metrics = async () => (await fetch(`${world.ops}/metrics`)).text()
  const clients = await Promise.all([1, 2, 3].map(() => sendHandshake(world.port, '/ws').opened()))
  const open = await metrics()
  t.match(open, /^seatgate_websockets_open 3$/m)
  t.match(open, /^seatgate_requests_in_flight 0$/m)
  t.match(open, /^seatgate_requests_total\{route="GET \/ws",status="101"\} 3$/m)
  t.match(open, /^seatgate_decisions_total\{code="allow"\} 3$/m)
  t.same(
    world.log().filter(({ path }) => path === '/ws'),
    [],
    'one line, at the end',
  )
  clients[0]?.sendText('12345').write(fromClient(CLOSE, status(1000, 'bye')))
  await clients[0]?.gone()
  t.match(await line(), {
    status: 101,
    code: 'allow',
    ended_by: 'client',
    close_code: 1000,
    bytes_in: 6 + 5 + 6 + 5,
    bytes_out: 2 + 5 + 2 + 5,
    duration_ms: Number,
    route: 'GET /ws',
  })
  upstream.sockets.find(({ ended }) => !ended)?.socket.write(fromServer(CLOSE, ''))
  const closedClient = () => clients.slice(1).find(({ close }) => close !== undefined)
  await until(() => closedClient() !== undefined, 'Close')
  closedClient()?.write(fromClient(CLOSE, ''))
  await until(() => world.log().some(({ ended_by }) => ended_by === 'upstream'), 'the line')
  t.match(
    world.log().find(({ ended_by }) => ended_by === 'upstream'),
    { close_code: 1005 },
  )
  const after = await metrics()
  t.match(after, /^seatgate_websockets_open 1$/m)
  t.match(after, /^seatgate_websockets_ended_total\{by="client"\} 1$/m)
  t.match(after, /^seatgate_websockets_ended_total\{by="upstream"\} 1$/m)
  t.match(after, /^seatgate_requests_total\{route="GET \/ws",status="101"\} 3$/m)
  for (const client of clients) client.socket.destroy()
})
