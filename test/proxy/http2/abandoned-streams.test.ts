/** Requests that are given up: beyond a budget they are not reset, as servers end connections for resets. */

import t, { type Test } from 'tap'
import { holdTime } from '../../support/held-time.ts'
import { RawClient } from '../../support/raw-client.ts'
import { until } from '../../support/until.ts'
import type { RawHttp2 } from '../../support/raw-http2.ts'
import { get, standstill } from '../support.ts'
import { answer, data, GOAWAY, headers, HEADERS, RST_STREAM, serveFrames, WINDOW_UPDATE } from './raw.ts'
import { front2, serve2 } from './support.ts'

/** Those that a connection may reset at once. */
const BURST = 50

/** Requests in flight, whose clients leave. */
async function leave(gatewayPort: number, count: number, arrived: () => number): Promise<void> {
  const before = arrived()
  const clients = Array.from({ length: count }, () => new RawClient(gatewayPort).send(get()))
  await until(() => arrived() === before + count, 'the requests at the target')
  for (const { socket } of clients) socket.resetAndDestroy()
}

const sum = (connections: readonly RawHttp2[], type: number) =>
  connections.reduce((all, each) => all + each.count(type), 0)

/** The budget is used up. */
async function usedUp(t: Test) {
  const time = holdTime(t)
  const { port, connections } = await serveFrames(t, () => {})
  const { port: gatewayPort, exchanges } = await front2(t, port)
  const left = async (count: number) => {
    const all = gone() + count
    await leave(gatewayPort, count, () => sum(connections, HEADERS))
    await until(() => gone() === all, 'that the gateway knows of it')
  }
  const gone = () => exchanges.filter(({ aborted }) => aborted).length
  await left(BURST)
  await until(() => sum(connections, RST_STREAM) === BURST, 'the resets')
  return { time, connections, gatewayPort, left }
}

t.test('beyond the budget, responses are dropped, and the connection goes on', async (t) => {
  const { connections, gatewayPort, left } = await usedUp(t)
  await left(20)
  t.equal(await standstill(() => sum(connections, RST_STREAM)), BURST)
  const [connection] = connections
  const last = 2 * (BURST + 20)
  for (let stream = 2 * BURST + 1; stream < last; stream += 2) connection?.send(answer(stream, 'dropped'))
  const next = new RawClient(gatewayPort).send(get())
  await until(() => connection?.count(HEADERS) === BURST + 21, 'the next request, on the same connection')
  connection?.send(answer(last + 1))
  t.match(await next.ended, /good/)
  t.equal(connections.length, 1)
})

t.test('a response without an end is dropped up to its window', async (t) => {
  const { connections, left } = await usedUp(t)
  const [connection] = connections
  await left(1)
  const stream = 2 * BURST + 1
  connection?.send(headers(stream, [':status', '200']))
  for (let i = 0; i < 8; i++) connection?.send(data(stream, Buffer.alloc(16_384)))
  await connection?.settled()
  const room = connection?.received.filter((each) => each.type === WINDOW_UPDATE && each.stream === stream)
  t.same(room, [])
})

t.test('with time, they are reset', async (t) => {
  const { time, connections, left } = await usedUp(t)
  await left(8)
  t.equal(await standstill(() => sum(connections, RST_STREAM)), BURST)
  time.pass(1000)
  t.equal(await standstill(() => sum(connections, RST_STREAM)), BURST + 4)
  time.pass(1000)
  t.equal(await standstill(() => sum(connections, RST_STREAM)), BURST + 8)
})

t.test(
  'many of them: requests go to another connection, and this one is closed after its last',
  async (t) => {
    const { connections, gatewayPort, left } = await usedUp(t)
    const staying = new RawClient(gatewayPort).send(get())
    await until(() => sum(connections, HEADERS) === BURST + 1, 'a request that stays')
    await left(40)
    await standstill(() => sum(connections, RST_STREAM))
    const next = new RawClient(gatewayPort).send(get())
    await until(() => connections[1]?.count(HEADERS) === 1, 'the next request on another connection')
    connections[1]?.send(answer(1))
    t.match(await next.ended, /good/)
    t.equal(connections[0]?.count(GOAWAY), 0)
    connections[0]?.send(answer(2 * BURST + 1))
    t.match(await staying.ended, /good/)
    await until(() => connections[0]?.ended === true, 'the end of the connection')
    t.equal(connections[0]?.count(RST_STREAM), BURST)
  },
)

t.test('Node.js: cancelled requests beyond its limit end no request of others', async (t) => {
  let arrived = 0
  const held: (() => void)[] = []
  const { port, sessions } = await serve2(t, (stream, { ':path': path }) => {
    arrived++
    if (path === '/a') return
    held.push(() => {
      stream.respond()
      stream.end('good')
    })
  })
  const { port: gatewayPort } = await front2(t, port)
  const post = 'POST /b HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n'
  const others = Array.from({ length: 20 }, () => new RawClient(gatewayPort).send(post))
  await until(() => held.length === 20, 'the requests of others')
  // More than 1,000, from which Node.js ends a connection.
  for (let i = 0; i < 24; i++) await leave(gatewayPort, 50, () => arrived)
  for (const end of held) end()
  for (const other of others) t.match(await other.ended, /good/)
  t.ok(sessions.length > 1)
})
