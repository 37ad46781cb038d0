/** Spans of WebSockets, and of gRPC over HTTP/2 on both sides. */

import t from 'tap'
import { seatForAll, startGrpcWorld } from '../../grpc/world.ts'
import { until } from '../../support/until.ts'
import { startWorld } from '../../support/world.ts'
import { sendHandshake, startWebSocketUpstream } from '../../websocket/support.ts'
import { startReceiver } from './receiver.ts'

const SERVER = 2
const CLIENT = 3

const exportingTo = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_BSP_SCHEDULE_DELAY: '1',
})

t.test('a WebSocket has the span of its handshake, while it is open', async (t) => {
  const receiver = await startReceiver(t)
  const { url, sockets } = await startWebSocketUpstream(t)
  const world = await startWorld(t, {
    routes: ['GET /ws: public'],
    target: url,
    env: exportingTo(receiver.url),
  })
  const client = sendHandshake(world.port, '/ws')
  const [one, two] = await receiver.atLeast(2)
  const [server, attempt] = one?.kind === SERVER ? [one, two] : [two, one]
  t.match(server, { name: 'GET /ws', status: 0, attributes: { 'http.response.status_code': 101 } })
  t.match(attempt, { kind: CLIENT, status: 0, parentSpanId: server?.spanId })
  t.match(attempt?.attributes, { 'http.response.status_code': 101, 'url.full': `${url}/ws` })
  await until(() => sockets.length === 1, 'the handshake at the upstream')
  t.equal(sockets[0]?.request.headers['traceparent'], `00-${attempt?.traceId}-${attempt?.spanId}-01`)
  client.socket.destroy()
  const lines = () => world.log().filter(({ path, status }) => path === '/ws' && status === 101)
  await until(() => lines().length === 1, 'the line of the WebSocket')
  t.match(lines(), [{ trace_id: server?.traceId }])
  // The span of a later request arrives after any of the end.
  await world.client.send('GET', '/later')
  await receiver.spanWhere(({ attributes }) => attributes['url.path'] === '/later')
  t.equal(receiver.spans.length, 3, 'its end makes no span')
})

t.test('a handshake that the upstream refuses', async (t) => {
  const receiver = await startReceiver(t)
  const { url } = await startWebSocketUpstream(t, {
    answer: (_, socket) => void socket.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n'),
  })
  const world = await startWorld(t, {
    routes: ['GET /ws: public'],
    target: url,
    env: exportingTo(receiver.url),
  })
  sendHandshake(world.port, '/ws')
  const spans = await receiver.atLeast(2)
  t.match(
    spans.map(({ kind, status, attributes }) => [kind, status, attributes['http.response.status_code']]),
    [
      [CLIENT, 2, 403],
      [SERVER, 0, 403],
    ],
  )
})

t.test('a call of gRPC', async (t) => {
  const receiver = await startReceiver(t)
  const { world, caller } = await startGrpcWorld(t, { env: exportingTo(receiver.url) })
  const hashPerm = await seatForAll(world)
  const before = (await receiver.atLeast(1)).length
  await (await caller(hashPerm)).unary('hello')
  const spans = (await receiver.atLeast(before + 2)).slice(before)
  const server = spans.find(({ kind }) => kind === SERVER)
  const client = spans.find(({ kind }) => kind === CLIENT)
  t.match(server?.attributes, {
    'network.protocol.version': '2',
    'url.scheme': 'https',
    'rpc.system.name': 'grpc',
    'rpc.response.status_code': 'OK',
    'server.address': 'localhost',
  })
  t.match(client, { parentSpanId: server?.spanId, traceId: server?.traceId, status: 0 })
})
