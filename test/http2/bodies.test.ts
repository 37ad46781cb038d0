/** Bodies, streams and their ends between HTTP/2 clients and upstreams of HTTP/1.1. */

import { once } from 'node:events'
import t from 'tap'
import { CANCEL, INTERNAL_ERROR } from '../../src/http/wire/http2/errors.ts'
import { DATA, END_STREAM, RST_STREAM, WINDOW_UPDATE } from '../../src/http/wire/http2/frames.ts'
import { type Fields, GET, POST } from '../support/raw-http2.ts'
import { answerOf, ask, openRaw, openSession, rawUpstream, startSecured, until } from './support.ts'

/** As in src/http/server/http2-settings.ts. */
const STREAM_WINDOW = 128 * 1024
const ROUTES = [
  'GET /docs/*: public',
  'POST /open: { permission: public, max_body: unlimited }',
  'GET /sse: trainings:list',
]
const at = (path: string, fields: Fields = GET): Fields =>
  fields.map(([name, value]) => [name, name === ':path' ? path : value])

t.test('an upload waits for the upstream, and a download for the client', async (t) => {
  const world = await startSecured(t, {
    routes: ROUTES,
    answer: (_, response) => response.end(Buffer.alloc(8_000_000, 'y')),
  })
  const session = openSession(t, world.securePort)
  const post = { ':method': 'POST', ':path': '/open' }
  const answer = await ask(session, post, Buffer.alloc(8_000_000, 'x'))
  t.equal(answer.body.length, 8_000_000)
  t.equal(world.upstream.seen[0]?.body.length, 8_000_000)
})

t.test('an upstream that reads nothing stops the client: what is buffered is bounded', async (t) => {
  const upstream = await rawUpstream(t, (socket) => void socket.pause())
  const world = await startSecured(t, { routes: ROUTES, target: upstream.url })
  const client = await openRaw(t, world.securePort)
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
  const world = await startSecured(t, {
    routes: ROUTES,
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.flushHeaders()
      parts.resolve((text) => (text === '' ? response.end() : response.write(text)))
    },
  })
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
  const upstream = await rawUpstream(t, (socket, text) => {
    if (text.endsWith('\r\n\r\n'))
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\n' +
          'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\nConnection: x-hop\r\nX-Hop: 1\r\nKeep-Alive: a\r\n\r\n' +
          '2\r\nok\r\n0\r\nX-Sum: 7\r\n\r\n',
      )
  })
  const world = await startSecured(t, { routes: ROUTES, target: upstream.url })
  const stream = openSession(t, world.securePort).request({ ':path': '/docs/a' })
  const hints = once(stream, 'headers')
  const answer = await answerOf(stream)
  t.match((await hints)[0], { ':status': 103, link: '</a.css>' })
  t.match(answer, { status: 200, body: 'ok', trailers: { 'x-sum': '7' } })
  for (const name of ['connection', 'keep-alive', 'transfer-encoding', 'x-hop'])
    t.equal(answer.headers[name], undefined, name)
})

t.test('request trailers are dropped', async (t) => {
  const world = await startSecured(t, { routes: ROUTES })
  const client = await openRaw(t, world.securePort)
  client.headers(1, at('/open', POST), 0).frame(DATA, 0, 1, Buffer.from('body'))
  client.headers(1, [['x-seatgate-user', 'root']])
  t.equal(await client.status(1), 200)
  const [seen] = world.upstream.seen
  t.equal(seen?.body, 'body')
  t.notOk(seen?.rawHeaders.includes('x-seatgate-user'))
})

t.test('Expect: 100 before the body where it is wanted, none where it is refused', async (t) => {
  const world = await startSecured(t, { routes: ROUTES })
  const session = openSession(t, world.securePort)
  const stream = session.request({ ':method': 'POST', ':path': '/open', expect: '100-continue' })
  const answer = answerOf(stream)
  await once(stream, 'continue')
  stream.end('body')
  t.equal((await answer).status, 200)
  const refused = session.request({ ':method': 'POST', ':path': '/no', expect: '100-continue' })
  refused.on('continue', () => t.fail('100 for a request that is refused'))
  t.equal((await answerOf(refused)).status, 404)
})

t.test('a client that cancels: the upstream request ends at once', async (t) => {
  const upstream = await rawUpstream(t, () => {})
  const world = await startSecured(t, { routes: ROUTES, target: upstream.url })
  const client = await openRaw(t, world.securePort)
  client.headers(1, at('/docs/a')).headers(3, at('/open', POST), 0).frame(DATA, 0, 3, Buffer.from('part'))
  await until(() => upstream.connections.filter(({ text }) => text !== '').length === 2)
  client.frame(RST_STREAM, 0, 1, [0, 0, 0, CANCEL]).frame(RST_STREAM, 0, 3, [0, 0, 0, CANCEL])
  await until(() => upstream.connections.every(({ closed }) => closed))
  await until(() => world.log().filter(({ aborted }) => aborted === true).length === 2)
  client.headers(5, at('/nowhere'))
  t.equal(await client.status(5), 404, 'the connection goes on')
})

t.test('an upstream that dies within a body: never a response that looks complete', async (t) => {
  for (const head of ['Content-Length: 100', 'Transfer-Encoding: chunked']) {
    const body = head.startsWith('T') ? '4\r\npart\r\n' : 'part'
    const upstream = await rawUpstream(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\n\r\n${body}`, () =>
        setImmediate(() => socket.resetAndDestroy()),
      )
    })
    const world = await startSecured(t, { routes: ROUTES, target: upstream.url })
    const client = await openRaw(t, world.securePort)
    client.headers(1, at('/docs/a'))
    if ((await client.outcome(1)) === 'status 200') {
      t.equal(await client.reset(1), INTERNAL_ERROR, head)
      t.notOk(client.received.some(({ type, flags }) => type === DATA && (flags & END_STREAM) !== 0))
    } else t.equal(await client.status(1), 502, head)
  }
})

t.test('an event stream is cut within two seconds of the change of its Seat', async (t) => {
  const world = await startSecured(t, {
    routes: ROUTES,
    answer: (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' })
      response.write('data: first\n\n')
    },
  })
  const seat = await world.seat('Clerk', ['s1'], ['trainings:list'])
  const client = await openRaw(t, world.securePort)
  const token = await world.token(['s1:Clerk'])
  client.headers(1, [...at('/sse'), ['authorization', `Bearer ${token}`], ['space', 's1']])
  await client.next(({ type }) => type === DATA)
  const { status } = await world.admin('PUT', `/v1/seats/${seat}`, { permissions: [] })
  t.equal(status, 200)
  const changed = performance.now()
  t.equal(await client.reset(1), INTERNAL_ERROR)
  t.ok(performance.now() - changed < 3000, 'two seconds, and what a busy machine adds')
  t.notOk(client.received.some(({ type, flags }) => type === DATA && (flags & END_STREAM) !== 0))
  await until(() => world.log().some(({ code }) => code === 'permission_denied'))
})

t.test('an upload that its upstream answers early is not read to its end', async (t) => {
  const upstream = await rawUpstream(t, (socket) => {
    socket.write('HTTP/1.1 422 No\r\nContent-Length: 2\r\n\r\nno')
  })
  const world = await startSecured(t, {
    routes: ['POST /open: { permission: public, max_body: 1MiB }'],
    target: upstream.url,
  })
  const client = await openRaw(t, world.securePort)
  client.headers(1, at('/open', POST), 0).frame(DATA, 0, 1, Buffer.alloc(1000))
  t.equal(await client.status(1), 422)
  const body = await client.next(({ type }) => type === DATA)
  t.match(body, { flags: END_STREAM, payload: Buffer.from('no') })
  client.frame(DATA, END_STREAM, 1, Buffer.alloc(1000))
  await client.settled()
  t.notOk(client.received.some(({ type }) => type === RST_STREAM))
})
