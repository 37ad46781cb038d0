/** Streams at their edges: padding, bodies that wait, refusals that are not read, what arrives too late. */

import t, { type Test } from 'tap'
import type { ClientRequest } from '../../../src/http/server/client-request.ts'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { NO_ERROR, PROTOCOL_ERROR, STREAM_CLOSED } from '../../../src/http/wire/http2/http2-errors.ts'
import {
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  HEADERS,
  numberFrame,
  PADDED,
  PING,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
  WITH_PRIORITY,
} from '../../../src/http/wire/http2/http2-frames.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { type Fields, GET, POST, RawHttp2 } from '../../support/raw-http2.ts'
import { until } from '../../support/until.ts'
import { acceptor, answer, authority, certificate, openSecured } from './tls-support.ts'

const a = certificate(['a.example'])
const ZERO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0])
const ROOM = Buffer.from([0, 1, 0, 0])
type Response = Exchange['response']

/** A listener that hands out its requests unanswered. */
async function openWaiting(t: Test, settings: object = {}, limits: object = {}) {
  const requests: { request: ClientRequest; response: Response }[] = []
  const handle = (request: ClientRequest, response: Response) => {
    requests.push({ request, response })
    return new Exchange(request, response, 'id', 0)
  }
  const secured = await openSecured(t, acceptor([a], {}, true), { handle, settings, limits })
  return { ...secured, requests }
}

async function openClient(t: Test, port: number): Promise<RawHttp2> {
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  return client
}

t.test('the room that padding took is returned', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await openClient(t, port)
  client.headers(1, POST, 0)
  // Twice the window of the stream, nearly all of it padding.
  const padded = Buffer.concat([Buffer.from([255, 120]), Buffer.alloc(255)])
  const frames = Array.from({ length: 256 }, () => frame(DATA, PADDED, 1, padded))
  for (let i = 0; i < 4; i++) await client.send(...frames).settled()
  client.frame(DATA, END_STREAM, 1)
  t.equal(await client.outcome(1), 'status 200')
  const body = await client.next((each) => each.type === DATA && each.stream === 1)
  t.equal(String(body.payload), '1024 bytes')
})

t.test('single bytes that wait for a reader are kept together', async (t) => {
  const { port, requests } = await openWaiting(t)
  const client = await openClient(t, port)
  client.headers(1, POST, 0)
  const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, i) => i % 251))
  client.send(...Array.from(bytes, (byte) => frame(DATA, 0, 1, Buffer.from([byte]))))
  await client.frame(DATA, END_STREAM, 1).settled()
  const chunks: Buffer[] = []
  let ended = false
  requests[0]?.request.deliver({
    data: (chunk) => void chunks.push(chunk),
    end: () => (ended = true),
    aborted() {},
  })
  t.equal(ended, true)
  t.ok(Buffer.concat(chunks).equals(bytes))
  t.ok(chunks.length <= 20, `${chunks.length} parts`)
})

t.test(
  'a reader that stops and goes on within a part gets all of it in order, and then the end',
  async (t) => {
    const { port, requests } = await openWaiting(t)
    const client = await openClient(t, port)
    client.headers(1, POST, 0)
    for (let i = 0; i < 8; i++) client.frame(DATA, 0, 1, Buffer.alloc(4096, i))
    await client.frame(DATA, END_STREAM, 1).settled()
    const request = requests[0]?.request
    const seen: Buffer[] = []
    let seenAtEnd = 0
    request?.deliver({
      data(chunk) {
        seen.push(chunk)
        request.pause()
        request.resume()
      },
      end: () => (seenAtEnd = seen.length),
      aborted() {},
    })
    const parts = Array.from({ length: 8 }, (_, i) => Buffer.alloc(4096, i))
    t.ok(Buffer.concat(seen).equals(Buffer.concat(parts)))
    t.equal(seenAtEnd, seen.length)
  },
)

t.test('what is under way of an upload that was refused is no fault', async (t) => {
  const handle = (request: ClientRequest, response: Response) => {
    response.writeHead(401, ResponseFields.of(['Content-Length', '0']))
    response.end()
    return new Exchange(request, response, 'id', 0)
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await openClient(t, port)
  // Twice the window of the connection.
  for (let id = 1; id < 500; id += 2) {
    const part = frame(DATA, 0, id, Buffer.alloc(1000))
    client.headers(id, POST, 0).send(...Array.from({ length: 8 }, () => part))
    if (id % 20 === 1) await client.settled()
  }
  t.equal(await client.status(499), 401)
  const resets = client.received.filter(({ type }) => type === RST_STREAM)
  t.ok(resets.every(({ payload }) => payload.readUInt32BE(0) === NO_ERROR))
  t.equal(new Set(resets.map(({ stream }) => stream)).size, resets.length, 'one a stream')
})

t.test('frames of a stream that both sides have ended are STREAM_CLOSED', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await openClient(t, port)
  t.equal(await client.headers(1).status(1), 200)
  await client.settled()
  t.equal(await client.frame(DATA, 0, 1, [1]).reset(1), STREAM_CLOSED)
})

t.test('window updates for every 4 KiB of a response, as those of Go, are no flood', async (t) => {
  // Twice as many updates as may come at once, and no more are permitted by time.
  const size = 8 * 1024 * 1024
  holdTime(t)
  const handle = (request: ClientRequest, response: Response) => {
    response.writeHead(200, ResponseFields.of(['Content-Length', String(size)]))
    response.end(Buffer.alloc(size))
    return new Exchange(request, response, 'id', 0)
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await openClient(t, port)
  // Windows of 1 GiB, so that each frame of DATA is full.
  client.frame(SETTINGS, 0, 0, [0, 4, 64, 0, 0, 0]).frame(WINDOW_UPDATE, 0, 0, [64, 0, 0, 0]).headers(1)
  for (let read = 0; read < size;) {
    await client.next((each) => each.type === DATA)
    const all = client.received.splice(0)
    const bytes = all.reduce((sum, each) => sum + (each.type === DATA ? each.payload.length : 0), 0)
    read += bytes
    const updates: Buffer[] = []
    for (let returned = 0; returned < bytes; returned += 4096) {
      const step = Math.min(4096, bytes - returned)
      updates.push(numberFrame(WINDOW_UPDATE, 0, step), numberFrame(WINDOW_UPDATE, 1, step))
    }
    client.send(...updates)
  }
  await client.settled()
})

t.test('a body is given up before its response is read: the stream ends with the response', async (t) => {
  const { port, requests, listener } = await openWaiting(t)
  const client = await openClient(t, port)
  client.frame(SETTINGS, 0, 0, ZERO_WINDOW).headers(1, POST, 0).frame(DATA, 0, 1, [1])
  await client.settled()
  const { request, response } = requests[0] ?? {}
  response?.writeHead(200, ResponseFields.of(['Content-Length', '2']))
  response?.end('ok')
  request?.deliver({ data: () => request.abandon(), end() {}, aborted() {} })
  await client.settled()
  client.frame(WINDOW_UPDATE, 0, 1, ROOM)
  t.equal(await client.reset(1), NO_ERROR)
  t.equal(String((await client.next(({ type }) => type === DATA)).payload), 'ok')
  await until(() => listener.connections.idle === 1, 'the idle connection')
})

t.test('a refusal that waits for a window is whole before its stream is reset', async (t) => {
  const { port, listener } = await openSecured(t, acceptor([a], {}, true))
  const client = await openClient(t, port)
  client.frame(SETTINGS, 0, 0, ZERO_WINDOW).headers(1, [...POST, ['x-a', '1\n']], 0)
  t.equal(await client.status(1), 400)
  await client.settled()
  t.equal(listener.connections.active, 1)
  client.frame(WINDOW_UPDATE, 0, 1, ROOM)
  t.equal(await client.reset(1), NO_ERROR)
  const body = await client.next((each) => each.type === DATA)
  t.match(JSON.parse(String(body.payload)), { status: 400 })
  t.equal(body.flags & END_STREAM, END_STREAM)
  await until(() => listener.connections.idle === 1, 'the idle connection')
})

t.test('refusals that are never read end in the time of stalled responses', async (t) => {
  const time = holdTime(t)
  const { port, listener } = await openSecured(t, acceptor([a], {}, true), { settings: { stall: 1000 } })
  const client = await openClient(t, port)
  client.frame(SETTINGS, 0, 0, ZERO_WINDOW)
  for (let i = 0; i < 128; i++) client.headers(2 * i + 1, [...GET, ['x-a', '1\n']])
  t.equal(await client.status(255), 400)
  await untilStepped(time, () => listener.connections.idle === 1)
  await client.reset(255)
  client.headers(301).frame(WINDOW_UPDATE, 0, 301, ROOM)
  t.equal(await client.status(301), 200)
})

t.test('an idle connection whose PING came in two parts is idle, not late', async (t) => {
  const time = holdTime(t)
  const sockets: ClientRequest['socket'][] = []
  const handle = (request: ClientRequest, response: Response) => {
    sockets.push(request.socket)
    return answer(request, response)
  }
  const limits = { headerTimeout: 1000, idleTimeout: 2000 }
  const { port } = await openSecured(t, acceptor([a], {}, true), { limits, handle })
  const client = await openClient(t, port)
  await client.headers(1).status(1)
  await client.settled()
  const read = sockets[0]?.bytesRead ?? 0
  client.send(Buffer.from('000008060000000000', 'hex'))
  await until(() => (sockets[0]?.bytesRead ?? 0) > read, 'more bytes')
  const from = client.received.length
  client.send(Buffer.alloc(8))
  await client.next(({ type }) => type === PING, from)
  await untilStepped(time, () => client.ended)
  const { payload } = await client.next(({ type }) => type === GOAWAY)
  t.equal(payload.readUInt32BE(4), NO_ERROR)
})

t.test('HEADERS that depend on their own stream are no request, also with CONTINUATION', async (t) => {
  const { port, requests } = await openWaiting(t)
  const client = await openClient(t, port)
  const priority = Buffer.from([0, 0, 0, 1, 0])
  const block = client.block(GET)
  client.frame(HEADERS, END_STREAM | WITH_PRIORITY, 1, Buffer.concat([priority, block.subarray(0, 2)]))
  client.frame(CONTINUATION, END_HEADERS, 1, block.subarray(2))
  t.equal(await client.outcome(1), `RST ${PROTOCOL_ERROR}`)
  await client.settled()
  t.equal(requests.length, 0)
})

t.test('responses that wait for windows are counted, though nothing more is received', async (t) => {
  const { port, requests, listener } = await openWaiting(t)
  const client = await openClient(t, port)
  client.frame(SETTINGS, 0, 0, ZERO_WINDOW).headers(1).headers(3)
  await client.settled()
  for (const { response } of requests) {
    response.writeHead(200, ResponseFields.of([]))
    response.write(Buffer.alloc(100_000))
  }
  t.ok(listener.memory >= 200_000, String(listener.memory))
  client.socket.destroy()
  await until(() => listener.memory === 0, 'the release of the memory')
})

t.test('header sections count until their requests are no longer in flight', async (t) => {
  const { port, requests, listener } = await openWaiting(t)
  const client = await openClient(t, port)
  const large: Fields = [...POST, ['x-long', 'x'.repeat(27_000)]]
  for (let i = 0; i < 10; i++) await client.headers(2 * i + 1, large, i < 5 ? 0 : END_STREAM).settled()
  t.ok(listener.memory > 265_000 && listener.memory < 280_000, `${listener.memory} bytes`)
  for (const { request, response } of requests) {
    request.deliver({ data() {}, end() {}, aborted() {} })
    response.writeHead(200, ResponseFields.of(['Content-Length', '0']))
    response.end()
  }
  await until(() => listener.memory < 140_000, 'the release of those that are complete')
  t.ok(listener.memory > 130_000, `${listener.memory} bytes of those whose bodies arrive`)
  for (const { request } of requests) request.abandon()
  await until(() => listener.memory === 0, 'the release of all')
})

t.test('the limit of a header section holds for HTTP/2', async (t) => {
  const limits = { headerBytes: 8192, headerFields: 100 }
  const { port } = await openSecured(t, acceptor([a], {}, true), { limits })
  const client = await openClient(t, port)
  const long = (length: number): Fields => [...GET, ['x-long', 'x'.repeat(length)]]
  t.equal(await client.headers(1, long(8000)).status(1), 200)
  t.equal(await client.headers(3, long(8300)).status(3), 431)
  const target = (length: number): Fields =>
    GET.map(([name, value]) => [name, name === ':path' ? `/${'x'.repeat(length)}` : value])
  t.equal(await client.headers(5, target(8000)).status(5), 200)
  t.equal(await client.headers(7, target(8300)).status(7), 414)
  t.equal(await client.headers(9, target(20_000)).status(9), 414)
})
