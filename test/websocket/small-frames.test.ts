/** One end sends the smallest frames, and the other does not read: the gateway stops it before they take much memory. */

import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { Exchange } from '../../src/http/server/exchange.ts'
import { ClientSide } from '../../src/proxy/websocket/websocket-proxy.ts'
import { Tunnel } from '../../src/proxy/websocket/tunnel.ts'
import { standstill } from '../proxy/support.ts'
import { listen } from '../support/listen.ts'
import { until } from '../support/until.ts'
import { BINARY, fromClient, fromServer } from './frames.ts'

/** Frames that may wait. */
const MOST = 300
/** More than what waits when a connection no longer accepts all that it is given. */
const LARGE = Buffer.alloc(16 * 1024)
const SMALL = Buffer.alloc(2)
/** More than fits into any buffer. */
const LAST = Buffer.alloc(8 * 1024 * 1024)
/** Small frames behind those. */
const MORE = 50

/** Both ends of a connection: of the gateway, and of its peer, which reads nothing. */
async function pair(t: Test): Promise<{ socket: Socket; peer: Socket }> {
  const server = createServer({ allowHalfOpen: true, noDelay: true })
  const port = await listen(t, server)
  const peer = connect({ port, host: '127.0.0.1', noDelay: true })
  const [socket] = (await once(server, 'connection')) as [Socket]
  peer.pause()
  t.teardown(() => peer.destroy())
  socket.on('error', () => {})
  return { socket, peer }
}

/** As `opening.ts` and http-proxy-3 connect them. */
async function open(t: Test) {
  const client = await pair(t)
  const upstream = await pair(t)
  const exchange = { request: { socket: client.socket }, bytesIn: 0, bytesOut: 0 } as unknown as Exchange
  const side = new ClientSide()
  const tunnel = new Tunnel(exchange, side, upstream.socket, {
    websocketIdle: 3_600_000,
    websocketLifetime: 3_600_000,
  })
  t.teardown(() => tunnel.destroy())
  side.open(tunnel)
  // It drops the head that http-proxy-3 writes.
  side.write('head')
  upstream.socket.pipe(side).pipe(upstream.socket)
  return { client, upstream, tunnel, exchange }
}

async function turns(): Promise<void> {
  for (let i = 0; i < 10; i++) await new Promise(setImmediate)
}

/** Sends frames until no more is read from the sender. @param passed bytes that were read @returns the frames */
async function sendUntil(
  sender: Socket,
  frame: Buffer,
  mayEnd: () => boolean | Promise<boolean>,
  passed: () => number,
): Promise<number> {
  let count = 0
  for (; !(await mayEnd()); count++) {
    const before = passed()
    sender.write(frame)
    // Thousands of these waits follow each other where the limit is missing.
    while (passed() === before) await new Promise(setImmediate)
  }
  return count
}

async function checkDirection(
  t: Test,
  ends: { from: Awaited<ReturnType<typeof pair>>; to: Awaited<ReturnType<typeof pair>> },
  { tunnel, frame, passed }: { tunnel: Tunnel; frame: (payload: Buffer) => Buffer; passed: () => number },
): Promise<void> {
  const { from, to } = ends
  const isFull = async () => (await standstill(() => to.socket.writableLength)) > 0
  const large = await sendUntil(from.peer, frame(LARGE), isFull, passed)
  const small = await sendUntil(from.peer, frame(SMALL), () => from.socket.isPaused(), passed)
  t.ok(small <= MOST, `${small} small frames wait`)
  t.ok(tunnel.heldBytes >= 200 * small, `${tunnel.heldBytes} bytes are counted`)
  for (let i = 0; i < MORE; i++) {
    from.peer.write(frame(SMALL))
    await turns()
  }
  const unread = from.socket.readableLength
  t.ok(unread < (MORE / 5) * frame(SMALL).length, `${unread} bytes of further frames are kept`)
  const sent = large * frame(LARGE).length + (small + MORE) * frame(SMALL).length
  let received = 0
  to.peer.on('data', (chunk: Buffer) => (received += chunk.length))
  to.peer.resume()
  await until(
    () => received === sent,
    () => `${received} of ${sent} bytes are received`,
  )
  await until(() => !from.socket.isPaused(), 'reading goes on')
  from.peer.write(frame(LAST))
  await until(() => received === sent + frame(LAST).length, 'a further frame')
  t.equal(tunnel.heldBytes, 0, 'none waits')
}

t.test('the upstream, and the client does not read', async (t) => {
  const { client, upstream, tunnel, exchange } = await open(t)
  await checkDirection(
    t,
    { from: upstream, to: client },
    { tunnel, frame: (payload) => fromServer(BINARY, payload), passed: () => exchange.bytesOut },
  )
})

t.test('the client, and the upstream does not read', async (t) => {
  const { client, upstream, tunnel, exchange } = await open(t)
  await checkDirection(
    t,
    { from: client, to: upstream },
    { tunnel, frame: (payload) => fromClient(BINARY, payload), passed: () => exchange.bytesIn },
  )
})
