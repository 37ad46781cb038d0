/** Flow control (RFC 9113, section 5.2): a slow client or a stalled upstream holds up its own stream, and holds bounded memory. */

import { once } from 'node:events'
import t from 'tap'
import { holdTime } from '../../support/held-time.ts'
import { codeOf, get, standstill } from '../support.ts'
import {
  answer,
  data,
  DATA,
  DEFAULT_WINDOW,
  END_STREAM,
  frame,
  headers,
  HEADERS,
  numberFrame,
  serveFrames,
  SETTINGS,
  WINDOW_UPDATE,
} from './raw.ts'
import { front2, serve2 } from './support.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'
import { RawHttp2 } from '../../support/raw-http2.ts'
import { until } from '../../support/until.ts'

const ask = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`

t.test('a client that does not read stalls its own stream only', async (t) => {
  let sent = 0
  const { port, sessions } = await serve2(t, (stream, { ':path': path }) => {
    stream.respond({})
    if (path !== '/large') return void stream.end('small')
    const chunk = Buffer.alloc(64 * 1024)
    const more = () => {
      sent += chunk.length
      if (!stream.destroyed) stream.write(chunk, more)
    }
    more()
  })
  const { port: gatewayPort } = await front2(t, port)
  const slow = new RawClient(gatewayPort).send(ask('/large'))
  await once(slow.socket, 'data')
  slow.socket.pause()
  let before = -1
  while (sent !== before) {
    before = sent
    // Other responses of the connection pass meanwhile.
    for (let i = 0; i < 20; i++) t.match(await roundTrip(gatewayPort, ask('/')), /small/)
  }
  t.equal(sessions.length, 1)
  slow.socket.destroy()
})

t.test('a client that is slower than body_timeout ends, and its stream', async (t) => {
  const time = holdTime(t)
  let code = -1
  let sent = 0
  const { port, sessions } = await serve2(t, (stream) => {
    stream.respond({})
    const chunk = Buffer.alloc(64 * 1024)
    const more = () => {
      sent += chunk.length
      if (!stream.destroyed) stream.write(chunk, more)
    }
    more()
    stream.on('close', () => {
      code = stream.rstCode
    })
  })
  const { port: gatewayPort } = await front2(t, port, { bodyTimeout: 100 })
  const slow = new RawClient(gatewayPort).send(ask('/'))
  await once(slow.socket, 'data')
  slow.socket.pause()
  await standstill(() => sent)
  // The time starts again if the kernel still took bytes of the response.
  await until(() => {
    time.pass(101)
    return code !== -1
  }, 'the reset of the stream')
  t.equal(code, 8)
  t.equal(sessions[0]?.destroyed, false)
})

t.test('an upstream that stops inside its body', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) =>
    connection.send(headers(stream, [':status', '200']), data(stream, 'a')),
  )
  const { port: gatewayPort, exchanges } = await front2(t, port, { bodyTimeout: 50 })
  const [first, second] = [new RawClient(gatewayPort).send(get()), new RawClient(gatewayPort).send(get())]
  t.notMatch(await first.ended, /\r\n0\r\n/)
  t.notMatch(await second.ended, /\r\n0\r\n/)
  for (const exchange of exchanges) t.equal(exchange.refusal?.code, 'upstream_timeout')
  t.equal(connections.length, 1)
  t.equal(connections[0]?.socket.destroyed, false, 'the connection goes on')
})

t.test(
  'an upstream that opens no window gets no more than it permits, and the request ends in time',
  async (t) => {
    const time = holdTime(t)
    // INITIAL_WINDOW_SIZE 10
    const settings = frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0, 0, 0, 10]))
    const { port, connections } = await serveFrames(t, () => {}, settings)
    const { port: gatewayPort } = await front2(t, port, { responseTimeout: 100 })
    const body = 'x'.repeat(100_000)
    const wire = new RawClient(gatewayPort).send(
      `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
    )
    const frames = () => connections[0]?.received ?? []
    const taken = () =>
      frames()
        .filter(({ type }) => type === DATA)
        .reduce((sum, { payload }) => sum + payload.length, 0)
    await until(() => taken() > 0, 'bytes at the client')
    t.equal(await standstill(taken), 10)
    time.pass(200)
    t.equal(codeOf(await wire.ended), 'upstream_timeout')
    t.equal(taken(), 10)
    t.ok(frames().some(({ type }) => type === HEADERS))
  },
)

t.test('more than the window of the stream: that stream ends', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (stream > 1) return void connection.send(answer(stream))
    connection.send(headers(stream, [':status', '200']))
    held = () => {
      for (let i = 0; i < 20; i++) connection.send(data(stream, Buffer.alloc(16_384)))
    }
  })
  let held = () => {}
  const { port: gatewayPort, exchanges } = await front2(t, port)
  const wire = new RawClient(gatewayPort).send(get())
  await wire.until('\r\n\r\n')
  wire.socket.pause()
  // What the client does not read fills its socket first, so that the window is not returned.
  for (let i = 0; i < 100 && exchanges[0]?.refusal === null; i++) {
    held()
    await roundTrip(gatewayPort, get())
  }
  t.equal(exchanges[0]?.refusal?.code, 'upstream_protocol_error')
  t.match(await roundTrip(gatewayPort, get()), /good/)
  t.equal(connections.length, 1)
  wire.socket.destroy()
})

t.test('the window of the connection is returned whatever single streams do', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(headers(stream, [':status', '200']), data(stream, Buffer.alloc(16_384)))
  })
  const { port: gatewayPort } = await front2(t, port)
  const wires = Array.from({ length: 10 }, () => new RawClient(gatewayPort).send(get()))
  await Promise.all(wires.map((wire) => wire.until('\r\n\r\n')))
  t.equal(connections.length, 1)
  const updates = connections[0]?.received.filter(
    ({ type, stream }) => type === WINDOW_UPDATE && stream === 0,
  )
  const first = updates?.[0]?.payload.readUInt32BE(0) ?? 0
  t.ok(first + 65_535 >= 100 * 128 * 1024, 'it has room for the windows of all streams')
  for (const { socket } of wires) socket.destroy()
})

t.test('a response that is complete before its client has room for it', async (t) => {
  const bytes = Buffer.alloc(120_000, 'x')
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(headers(stream, [':status', '200']))
    for (let at = 0; at < bytes.length; at += 10_000)
      connection.send(data(stream, bytes.subarray(at, at + 10_000)))
    connection.send(data(stream, '', END_STREAM))
  })
  const { port: gatewayPort } = await front2(t, port, { http2: true })
  const client = RawHttp2.plain(gatewayPort)
  t.teardown(() => client.socket.destroy())
  const received = () =>
    client.received.filter(({ type }) => type === DATA).reduce((all, { payload }) => all + payload.length, 0)
  client.headers(1)
  await until(() => received() > 0, 'the first part')
  t.ok((await standstill(received)) <= DEFAULT_WINDOW, 'what the client has room for')
  await connections[0]?.settled()
  client.send(numberFrame(WINDOW_UPDATE, 0, 100_000), numberFrame(WINDOW_UPDATE, 1, 100_000))
  await client.next(({ type, flags }) => type === DATA && (flags & END_STREAM) !== 0)
  t.equal(received(), bytes.length)
})
