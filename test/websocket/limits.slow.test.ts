/** The gateway closes idle and old WebSockets, and all of them at shutdown; and their metrics. */

import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import { holdTime } from '../support/held-time.ts'
import { until } from '../support/until.ts'
import { startWorld } from '../support/world.ts'
import { CLOSE, codeOf, fromClient, fromServer, header, PING, status, TEXT } from './frames.ts'
import { sendHandshake, startWebSocketUpstream, switching, type UpstreamBehaviour } from './support.ts'
import { metricsOf } from '../support/operations.ts'

const ROUTES = ['GET /ws/*: public']
/** ms */
const IDLE = 1000
const LIFETIME = 10_000
/** ms that both ends have for their replies to Close */
const CLOSE_WAIT = 5000

async function setUp(t: Test, behaviour: UpstreamBehaviour = {}) {
  const upstream = await startWebSocketUpstream(t, behaviour)
  const limits = [`websocket_idle: ${IDLE}ms`, `websocket_lifetime: ${LIFETIME}ms`]
  const world = await startWorld(t, { routes: ROUTES, target: upstream.url, upstream: limits })
  /** Both ends of a WebSocket. */
  const open = async (path: string) => {
    const client = await sendHandshake(world.port, path).opened()
    const find = () => upstream.sockets.find(({ request }) => request.url === path)
    await until(() => find() !== undefined, 'the socket at the upstream')
    return { client, socket: find() ?? never() }
  }
  const line = async (path: string) => {
    const find = () => world.log().find((each) => each.path === path)
    await until(() => find() !== undefined, 'the line of the log')
    return find()
  }
  return { world, upstream, open, line }
}

function never(): never {
  throw new Error('it was found before')
}

const echoing = await setUp(t)
const silent = await setUp(t, { silent: true })

t.test('idle: both ends get 1001 at a frame boundary', async (t) => {
  const time = holdTime(t)
  const { client, socket } = await echoing.open('/ws/idle')
  client.sendText('hello')
  await client.receives('hello')
  time.pass(IDLE)
  await until(() => client.closeFrame !== undefined, 'Close')
  t.equal(client.closeFrame && codeOf(client.closeFrame), 1001)
  t.equal(client.closeFrame?.payload.subarray(2).toString(), 'idle')
  t.equal(client.closeFrame?.masked, false)
  client.send(fromClient(CLOSE, status(1001)))
  await client.gone()
  await until(() => socket.closed, 'the end at the upstream')
  t.equal(socket.closeFrame && codeOf(socket.closeFrame), 1001)
  t.equal(socket.closeFrame?.masked, true)
  t.equal(client.frames.filter(({ opcode }) => opcode === CLOSE).length, 1, 'once')
  t.match(await echoing.line('/ws/idle'), { status: 101, ended_by: 'idle', close_code: 1001 })
})

t.test('a ping of either end counts as activity; then nothing does', async (t) => {
  const time = holdTime(t)
  const { client, socket } = await silent.open('/ws/ping')
  for (let round = 1; round <= 4; round++) {
    time.pass(IDLE - 1)
    client.send(fromClient(PING, ''))
    await until(() => socket.frames.length === round, 'the ping of the client')
    time.pass(IDLE - 1)
    socket.socket.write(fromServer(PING, ''))
    await until(() => client.frames.length === round, 'the ping of the upstream')
  }
  t.ok([...client.frames, ...socket.frames].every(({ opcode }) => opcode === PING))
  time.pass(IDLE)
  await until(() => client.closeFrame !== undefined, 'Close')
  client.socket.destroy()
})

t.test('lifetime: the same, despite activity', async (t) => {
  const time = holdTime(t)
  const { client, socket } = await echoing.open('/ws/lifetime')
  for (let passed = 0; passed < LIFETIME; passed += IDLE / 2) {
    client.sendText(`after ${passed} ms`)
    await client.receives(`after ${passed} ms`)
    time.pass(IDLE / 2)
  }
  await until(() => client.closeFrame !== undefined, 'Close')
  t.equal(client.closeFrame && codeOf(client.closeFrame), 1001)
  t.equal(client.closeFrame?.payload.subarray(2).toString(), 'lifetime')
  client.send(fromClient(CLOSE, status(1001)))
  await client.gone()
  await until(() => socket.closed, 'the end at the upstream')
  t.match(await echoing.line('/ws/lifetime'), { ended_by: 'lifetime' })
})

t.test('ends that do not reply to Close are cut', async (t) => {
  const time = holdTime(t)
  const { client, socket } = await silent.open('/ws/no-reply')
  time.pass(IDLE)
  await until(() => client.closeFrame !== undefined && socket.closeFrame !== undefined, 'Close')
  time.pass(CLOSE_WAIT)
  await client.gone()
  await until(() => socket.finished, 'the end at the upstream')
})

t.test('inside a frame no Close is sent: it is cut', async (t) => {
  const time = holdTime(t)
  const { client, socket } = await silent.open('/ws/inside')
  client.send(header(2, 1000, true))
  socket.socket.write(header(2, 1000, false))
  await until(() => client.reader.left === 4 && socket.reader.left === 4, 'both beginnings')
  time.pass(IDLE + CLOSE_WAIT)
  await client.gone()
  t.equal(client.frames.length, 0)
  t.equal(client.reader.left, 4)
  await until(() => socket.finished, 'the end at the upstream')
  t.equal(socket.frames.length, 0)
  t.match(await silent.line('/ws/inside'), { ended_by: 'idle' })
})

t.test('the current frame passes before Close', async (t) => {
  const time = holdTime(t)
  const { client, socket } = await silent.open('/ws/current')
  const frame = fromServer(TEXT, 'whole after all')
  socket.socket.write(frame.subarray(0, 5))
  await until(() => client.reader.left === 5, 'the beginning')
  time.pass(IDLE)
  await until(() => socket.closeFrame !== undefined, 'Close at the upstream')
  t.equal(client.closeFrame, undefined, 'the client is in the middle of a frame')
  socket.socket.write(Buffer.concat([frame.subarray(5), fromServer(TEXT, 'too late')]))
  await until(() => client.closeFrame !== undefined, 'Close')
  t.same(client.texts, ['whole after all'])
  client.socket.destroy()
})

t.test('drain: 1001 at its start, and the shutdown waits for both replies', async (t) => {
  // An upstream that replies at once also ends its connection, and so that of the client.
  const { world, upstream, line } = await setUp(t, { silent: true })
  const clients = await Promise.all(
    Array.from({ length: 20 }, () => sendHandshake(world.port, '/ws/drain').opened()),
  )
  await until(() => upstream.sockets.length === 20, 'the sockets')
  let ended = false
  const closed = world.gateway.close(60_000).then(() => {
    ended = true
  })
  await until(() => clients.every(({ closeFrame }) => closeFrame !== undefined), 'Close')
  for (const client of clients) {
    t.equal(client.closeFrame && codeOf(client.closeFrame), 1001)
    t.equal(client.closeFrame?.payload.subarray(2).toString(), 'going away')
  }
  t.notOk(ended, 'neither end has replied')
  for (const client of clients) client.send(fromClient(CLOSE, status(1001)))
  await until(() => upstream.sockets.every(({ closeFrame }) => closeFrame !== undefined), 'Close upstream')
  t.notOk(ended, 'the upstream has not replied')
  for (const { socket } of upstream.sockets) socket.end(fromServer(CLOSE, status(1001)))
  await closed
  await Promise.all(clients.map((client) => client.gone()))
  t.match(await line('/ws/drain'), { ended_by: 'drain', close_code: 1001 })
})

t.test('drain: remaining WebSockets are cut at its end', async (t) => {
  const { world, open } = await setUp(t, { silent: true })
  const { client, socket } = await open('/ws/drain')
  client.send(header(2, 1000, true))
  await until(() => socket.reader.left === 4, 'the frame')
  await world.gateway.close(50)
  await client.gone()
  await until(() => socket.finished, 'the end at the upstream')
})

t.test('drain: one that opens meanwhile gets 1001 at once', async (t) => {
  const handshakes: { key: string; socket: Socket }[] = []
  const { world } = await setUp(t, {
    answer: ({ headers }, socket) => handshakes.push({ key: headers['sec-websocket-key'] ?? '', socket }),
  })
  const client = sendHandshake(world.port, '/ws/late')
  await until(() => handshakes.length === 1, 'the handshake')
  const closed = world.gateway.close(60_000)
  for (const { key, socket } of handshakes) {
    socket.on('data', () => {}).on('end', () => socket.end())
    socket.write(switching(key))
  }
  await client.opened()
  await until(() => client.closeFrame !== undefined, 'Close')
  t.equal(client.closeFrame && codeOf(client.closeFrame), 1001)
  client.socket.end(fromClient(CLOSE, status(1001)))
  await closed
})

t.test('metrics: open ones, how they ended, and the handshake as a request', async (t) => {
  const { world, upstream, line } = await setUp(t)
  const metrics = () => metricsOf(world)
  const clients = await Promise.all([1, 2, 3].map(() => sendHandshake(world.port, '/ws/a').opened()))
  const open = await metrics()
  t.match(open, /^seatgate_websockets_open 3$/m)
  t.match(open, /^seatgate_requests_in_flight 0$/m)
  t.match(open, /^seatgate_requests_total\{route="GET \/ws\/\*",status="101"\} 3$/m)
  t.match(open, /^seatgate_decisions_total\{code="allow"\} 3$/m)
  t.same(
    world.log().filter(({ path }) => path === '/ws/a'),
    [],
    'one line, at the end',
  )
  clients[0]?.sendText('12345').send(fromClient(CLOSE, status(1000, 'bye')))
  await clients[0]?.gone()
  t.match(await line('/ws/a'), {
    status: 101,
    code: 'allow',
    ended_by: 'client',
    close_code: 1000,
    bytes_in: 6 + 5 + 6 + 5,
    bytes_out: 2 + 5 + 2 + 5,
    duration_ms: Number,
    route: 'GET /ws/*',
  })
  upstream.sockets.find(({ finished }) => !finished)?.socket.write(fromServer(CLOSE, ''))
  const closedClient = () => clients.slice(1).find(({ closeFrame }) => closeFrame !== undefined)
  await until(() => closedClient() !== undefined, 'Close')
  closedClient()?.send(fromClient(CLOSE, ''))
  await until(() => world.log().some(({ ended_by }) => ended_by === 'upstream'), 'the line')
  t.match(
    world.log().find(({ ended_by }) => ended_by === 'upstream'),
    { close_code: 1005 },
  )
  const after = await metrics()
  t.match(after, /^seatgate_websockets_open 1$/m)
  t.match(after, /^seatgate_websockets_ended_total\{by="client"\} 1$/m)
  t.match(after, /^seatgate_websockets_ended_total\{by="upstream"\} 1$/m)
  t.match(after, /^seatgate_requests_total\{route="GET \/ws\/\*",status="101"\} 3$/m)
  for (const client of clients) client.socket.destroy()
})
