/** Bodies, streams and their ends between HTTP/2 clients and upstreams of HTTP/1.1. */

import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import t from 'tap'
import { CANCEL, INTERNAL_ERROR } from '../../src/http/wire/http2/http2-errors.ts'
import { DATA, END_STREAM, RST_STREAM, WINDOW_UPDATE } from '../../src/http/wire/http2/http2-frames.ts'
import { type Fields, GET, POST } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'
import { checkCut, EVENTS_ROUTE, firstEvent } from './event-stream.ts'
import { answerOf, ask, openRaw, openSession, rawUpstream, startSecured } from './support.ts'

/** As in src/http/server/http2-preface.ts. */
const STREAM_WINDOW = 128 * 1024
/** Of bodies that fill every window many times. */
const SIZE = 3_000_000
const ROUTES = [
  'GET /docs/*: public',
  'POST /open: { permission: public, max_body: unlimited }',
  EVENTS_ROUTE,
  'POST /cancelled: public',
  'POST /limited: { permission: public, max_body: 1MiB }',
]
const at = (path: string, fields: Fields = GET): Fields =>
  fields.map(([name, value]) => [name, name === ':path' ? path : value])

/** The answer of the upstream in the present test. */
let answer: RequestListener = (_, response) => response.end('ok')
const world = await startSecured(t, { routes: ROUTES, answer: (...exchange) => answer(...exchange) })
type RawAnswer = Parameters<typeof rawUpstream>[1]
let rawAnswer: RawAnswer = () => {}
const upstream = await rawUpstream(t, (socket, received) => rawAnswer(socket, received))
/** A gateway in front of it. */
const rawWorld = await startSecured(t, { routes: ROUTES, target: upstream.url })

/** The raw upstream answers so from now on. The gateway has given up the connections of the test before. */
async function answerWith(next: RawAnswer): Promise<void> {
  rawAnswer = () => {}
  const open = upstream.connections.splice(0).filter(({ socket }) => !socket.closed)
  // An error precedes the end of some.
  const closing = ({ socket }: { socket: Socket }) =>
    new Promise((resolve) => socket.once('close', resolve).resume().end())
  await Promise.all(open.map(closing))
  rawAnswer = next
}

t.test('an upload waits for the upstream, and a download for the client', async (t) => {
  answer = (_, response) => response.end(Buffer.alloc(SIZE, 'y'))
  const session = openSession(t, world.securePort)
  const post = { ':method': 'POST', ':path': '/open' }
  const { body } = await ask(session, post, Buffer.alloc(SIZE, 'x'))
  t.equal(body.length, SIZE)
  t.equal(world.upstream.seen.at(-1)?.body.length, SIZE)
})

t.test('an upstream that reads nothing stops the client: what is buffered is bounded', async (t) => {
  await answerWith((socket) => void socket.pause())
  const client = await openRaw(t, rawWorld.securePort)
  client.headers(1, at('/open', POST), 0)
  const chunk = Buffer.alloc(16_384)
  let sent = 0
  // The sockets to the upstream take some MB. Then no window update follows.
  for (let quiet = 0; quiet < 20 && sent < 64e6; quiet++) {
    const updates = client.received.filter(({ type, stream }) => type === WINDOW_UPDATE && stream === 1)
    const returned = updates.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0)
    for (; STREAM_WINDOW + returned - sent >= chunk.length; sent += chunk.length, quiet = 0)
      client.frame(DATA, 0, 1, chunk)
    await client.settled()
  }
  t.ok(sent >= STREAM_WINDOW && sent < 32e6, `${sent} bytes`)
})

t.test('a streamed response arrives part by part', async (t) => {
  const parts = Promise.withResolvers<(text: string) => void>()
  answer = (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    parts.resolve((text) => (text === '' ? response.end() : response.write(text)))
  }
  const stream = openSession(t, world.securePort).request({ ':path': '/docs/a' })
  const [head] = await once(stream, 'response')
  t.equal(head[':status'], 200)
  const send = await parts.promise
  for (const part of ['one', 'two']) {
    send(part)
    t.equal(String((await once(stream, 'data'))[0]), part)
  }
  send('')
  await once(stream, 'end')
})

t.test('interim responses and trailers reach the client', async (t) => {
  await answerWith((socket, text) => {
    if (text.endsWith('\r\n\r\n'))
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n' +
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: a\r\n\r\n' +
          '2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n',
      )
  })
  const stream = openSession(t, rawWorld.securePort).request({ ':path': '/docs/a' })
  const hints = once(stream, 'headers')
  const answer = await answerOf(stream)
  t.match((await hints)[0], { ':status': 103, link: '</a.css>' })
  t.match(answer, { status: 200, body: 'ok', trailers: { 'x-sum': '7' } })
  for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'x-hop'])
    t.equal(answer.headers[name], undefined, name)
})

t.test('request trailers are dropped', async (t) => {
  answer = (_, response) => response.end('ok')
  const client = await openRaw(t, world.securePort)
  client.headers(1, at('/open', POST), 0).frame(DATA, 0, 1, Buffer.from('body'))
  client.headers(1, [['x-seatgate-user', 'root']])
  t.equal(await client.status(1), 200)
  const seen = world.upstream.seen.at(-1)
  t.equal(seen?.body, 'body')
  t.notOk(seen?.rawHeaders.includes('x-seatgate-user'))
})

t.test('Expect: 100 before the body where it is wanted, none where it is refused', async (t) => {
  answer = (_, response) => response.end('ok')
  const session = openSession(t, world.securePort)
  const stream = session.request({ ':method': 'POST', ':path': '/open', expect: '100-continue' })
  const answered = answerOf(stream)
  await once(stream, 'continue')
  stream.end('body')
  t.equal((await answered).status, 200)
  const refused = session.request({ ':method': 'POST', ':path': '/no', expect: '100-continue' })
  refused.on('continue', () => t.fail('100 for a request that is refused'))
  t.equal((await answerOf(refused)).status, 404)
})

t.test('a client that cancels: the upstream request ends at once', async (t) => {
  await answerWith(() => {})
  const client = await openRaw(t, rawWorld.securePort)
  client.headers(1, at('/docs/a')).headers(3, at('/cancelled', POST), 0)
  client.frame(DATA, 0, 3, Buffer.from('part'))
  await until(
    () => upstream.connections.filter(({ received }) => received !== '').length === 2,
    'the requests at the upstream',
  )
  client.frame(RST_STREAM, 0, 1, [0, 0, 0, CANCEL]).frame(RST_STREAM, 0, 3, [0, 0, 0, CANCEL])
  await until(() => upstream.connections.every(({ socket }) => socket.closed), 'the end of the connections')
  const isAborted = (path: string) =>
    rawWorld.log().some((line) => line['path'] === path && line['aborted'] === true)
  await until(() => isAborted('/docs/a') && isAborted('/cancelled'), 'the lines of the log')
  client.headers(5, at('/nowhere'))
  t.equal(await client.status(5), 404, 'the connection goes on')
})

t.test('an upstream that dies within a body: never a response that looks complete', async (t) => {
  for (const head of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const body = head.startsWith('T') ? '4\r\npart\r\n' : 'part'
    await answerWith((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`, () =>
        setImmediate(() => socket.resetAndDestroy()),
      )
    })
    const client = await openRaw(t, rawWorld.securePort)
    client.headers(1, at('/docs/a'))
    if ((await client.outcome(1)) === 'status 200') {
      t.equal(await client.reset(1), INTERNAL_ERROR, head)
      t.notOk(client.received.some(({ type, flags }) => type === DATA && (flags & END_STREAM) !== 0))
    } else t.equal(await client.status(1), 502, head)
  }
})

t.test('an event stream is cut after the change of its Seat', async (t) => {
  answer = firstEvent
  await checkCut(t, world)
})

t.test('an upload that its upstream answers early is not read to its end', async (t) => {
  await answerWith((socket) => {
    socket.write('HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\nno')
  })
  const client = await openRaw(t, rawWorld.securePort)
  client.headers(1, at('/limited', POST), 0).frame(DATA, 0, 1, Buffer.alloc(1000))
  t.equal(await client.status(1), 422)
  const body = await client.next(({ type }) => type === DATA)
  t.match(body, { flags: END_STREAM, payload: Buffer.from('no') })
  client.frame(DATA, END_STREAM, 1, Buffer.alloc(1000))
  await client.settled()
  t.notOk(client.received.some(({ type }) => type === RST_STREAM))
})
