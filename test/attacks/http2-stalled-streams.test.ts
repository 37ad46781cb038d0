/** Streams whose client opens no window or sends no body: they end, and the others of the connection are served. */

import t from 'tap'
import { ENHANCE_YOUR_CALM } from '../../src/http/wire/http2/http2-errors.ts'
import { DATA, HEADERS, RST_STREAM, SETTINGS, WINDOW_UPDATE } from '../../src/http/wire/http2/http2-frames.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import { ResponseFields } from '../../src/http/wire/response-fields.ts'
import { acceptor, answer, authority, certificate, openSecured } from '../http/server/tls-support.ts'
import { standstill } from '../proxy/support.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { GET, POST, RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

const a = certificate(['a.example'])
/** INITIAL_WINDOW_SIZE of 0 (CVE-2019-9511, CVE-2019-9517). */
const ZERO_WINDOW = Buffer.from([0, 4, 0, 0, 0, 0])

function large(request: ClientRequest, response: Exchange['response']): Exchange {
  if (request.url !== '/large') return answer(request, response)
  const body = Buffer.alloc(1_000_000)
  response.writeHead(200, ResponseFields.of(['Content-Length', String(body.length)]))
  response.end(body)
  return new Exchange(request, response, 'id', 0)
}

const path = (text: string) => GET.map(([name, value]) => [name, name === ':path' ? text : value] as const)

t.test('a stream without a window ends, a small response of another passes', async (t) => {
  const time = holdTime(t)
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle: large, settings: { stall: 1500 } })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  client.frame(SETTINGS, 0, 0, ZERO_WINDOW).headers(1, path('/large'))
  t.equal(await client.status(1), 200)
  client.headers(3).frame(WINDOW_UPDATE, 0, 3, [0, 0, 1, 0])
  const other = await client.next((each) => each.stream === 3 && each.type === DATA)
  t.equal(String(other.payload), '/')
  for (let seconds = 0; seconds < 4; seconds++) {
    time.pass(1000)
    await client.settled()
  }
  t.equal(await client.reset(1), 2, 'INTERNAL_ERROR: the response is not complete')
  t.notOk(client.received.some((each) => each.stream === 1 && each.type === DATA))
})

t.test('a window that opens byte by byte is progress', async (t) => {
  const time = holdTime(t)
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle: large, settings: { stall: 1500 } })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  client.frame(SETTINGS, 0, 0, ZERO_WINDOW).headers(1, path('/large'))
  for (let i = 0; i < 20; i++) {
    const from = client.received.length
    client.frame(WINDOW_UPDATE, 0, 1, [0, 0, 0, 1])
    const { payload } = await client.next((each) => each.stream === 1 && each.type === DATA, from)
    t.equal(payload.length, 1)
    time.pass(1000)
  }
})

t.test('a body that is not read holds up no other stream', async (t) => {
  const handle = (request: ClientRequest, response: Exchange['response']) =>
    request.method === 'POST' ? new Exchange(request, response, 'id', 0) : answer(request, response)
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  // Together more than the window of the connection.
  for (let i = 0; i < 20; i++) {
    client.headers(2 * i + 1, POST, 0)
    for (let sent = 0; sent < 120_000; sent += 12_000) client.frame(DATA, 0, 2 * i + 1, Buffer.alloc(12_000))
    await client.settled()
  }
  client.headers(101)
  t.equal(await client.status(101), 200)
})

t.test('a connection whose streams hold too much memory is cut off', async (t) => {
  const freed: string[] = []
  const handle = (request: ClientRequest, response: Exchange['response']) =>
    new Exchange(request, response, 'id', 0)
  const { port } = await openSecured(t, acceptor([a], {}, true), {
    handle,
    settings: { memory: 1_000_000 },
    events: { memoryFreed: (of) => freed.push(of) },
  })
  const client = await RawHttp2.open(port, authority.cert)
  for (let i = 0; i < 20 && !client.ended; i++) {
    client.headers(2 * i + 1, POST, 0)
    for (let sent = 0; sent < 120_000; sent += 12_000) client.frame(DATA, 0, 2 * i + 1, Buffer.alloc(12_000))
    await new Promise((resolve) => setImmediate(resolve))
  }
  await client.next(() => false).catch(() => {})
  t.same(freed, ['request'])
})

t.test('a field block without an end is cut off in the time of a header section', async (t) => {
  const time = holdTime(t)
  const handle = (request: ClientRequest, response: Exchange['response']) =>
    new Exchange(request, response, 'id', 0)
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle, limits: { headerTimeout: 1000 } })
  for (const inFlight of [0, 1]) {
    const client = await RawHttp2.open(port, authority.cert)
    if (inFlight === 1) client.headers(1)
    const other = await RawHttp2.open(port, authority.cert)
    client.frame(HEADERS, 0, 3, client.block(GET))
    // By then the block is read too.
    for (let i = 0; i < 3; i++) await other.settled()
    for (let seconds = 0; seconds < 3; seconds++) time.pass(1000)
    t.equal(await client.goAway(), ENHANCE_YOUR_CALM, `${inFlight} requests in flight`)
    client.socket.destroy()
    other.socket.destroy()
  }
})

t.test('an idle connection whose client has left output unread does not stay open', async (t) => {
  const time = holdTime(t)
  const sockets: ClientRequest['socket'][] = []
  const handle = (request: ClientRequest, response: Exchange['response']) => {
    sockets.push(request.socket)
    response.writeHead(200, ResponseFields.of(['Content-Length', '50000000']))
    response.end(Buffer.alloc(50_000_000))
    return new Exchange(request, response, 'id', 0)
  }
  const { port, listener } = await openSecured(t, acceptor([a], {}, true), {
    handle,
    limits: { idleTimeout: 2000 },
  })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  await client.settled()
  client.socket.pause()
  // Windows of 1 GiB: what the client does not read fills the buffers of the system.
  client.frame(SETTINGS, 0, 0, [0, 4, 64, 0, 0, 0]).frame(WINDOW_UPDATE, 0, 0, [64, 0, 0, 0]).headers(1)
  await until(() => (sockets[0]?.writableLength ?? 0) > 0, 'unread bytes')
  await standstill(() => sockets[0]?.bytesWritten ?? 0)
  client.frame(RST_STREAM, 0, 1, [0, 0, 0, 8])
  await until(() => listener.connections.idle === 1, 'the idle connection')
  await untilStepped(time, () => sockets[0]?.destroyed === true)
})
