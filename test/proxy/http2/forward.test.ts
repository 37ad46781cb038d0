/** Requests of HTTP/1.1 clients to upstreams of HTTP/2: what the upstream gets, and what the client gets. */

import { once } from 'node:events'
import t from 'tap'
import { Authority } from '../authority.ts'
import { fieldsOf, get, valuesOf } from '../support.ts'
import { front2, serve2, serveTls2, tlsTarget } from './support.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'

t.test('the request arrives as it was decided', async (t) => {
  let seen: readonly string[] = []
  const { port } = await serve2(t, (stream, _, raw) => {
    seen = raw
    stream.respond({ ':status': 201, 'x-answer': 'yes' })
    stream.end('made')
  })
  const { port: gatewayPort } = await front2(t, port)
  const answer = await roundTrip(
    gatewayPort,
    'GET /a%20b//c?x=1&y=%2f HTTP/1.1\r\nHost: gw.example\r\nX-Mixed-Case: A, b\r\nCookie: a=1; b=2\r\nTE: trailers\r\nConnection: close, X-Gone\r\nX-Gone: 1\r\n\r\n',
  )
  t.match(answer, /^HTTP\/1\.1 201 Created\r\n/)
  t.same(valuesOf(answer, 'x-answer'), ['yes'])
  t.match(answer, /4\r\nmade\r\n0\r\n\r\n$/)
  t.same(seen.slice(0, 8), [
    ':method',
    'GET',
    ':scheme',
    'http',
    ':authority',
    `127.0.0.1:${port}`,
    ':path',
    '/a%20b//c?x=1&y=%2f',
  ])
  const names = seen.filter((_, i) => i % 2 === 0)
  t.same(seen.slice(8, 12), ['x-mixed-case', 'A, b', 'cookie', 'a=1; b=2'])
  for (const name of ['te', 'connection', 'x-gone', 'host', 'content-length', 'transfer-encoding'])
    t.notOk(names.includes(name), name)
  t.ok(names.includes('x-seatgate-user') && names.includes('x-request-id'))
})

t.test("the client's Host passes as :authority with pass_host", async (t) => {
  const { port } = await serve2(t, (stream, headers) => {
    stream.respond({})
    stream.end(headers[':authority'])
  })
  const { port: gatewayPort } = await front2(t, port, { passHost: true })
  t.match(await roundTrip(gatewayPort, get()), /gw\.example\r\n0/)
})

t.test('bodies both ways, with a length and without', async (t) => {
  const { port } = await serve2(t, (stream, headers) => {
    stream.respond({ 'x-length': headers['content-length'] ?? 'none' })
    stream.pipe(stream)
  })
  const { port: gatewayPort } = await front2(t, port)
  const body = 'x'.repeat(300_000)
  const sized = await roundTrip(
    gatewayPort,
    `POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
  t.same(valuesOf(sized, 'x-length'), [String(body.length)])
  t.equal(
    sized.replaceAll(/[^x]/g, '').length - 'x-lengthx-request-id'.replaceAll(/[^x]/g, '').length,
    body.length,
  )
  const chunked = await roundTrip(
    gatewayPort,
    'POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n3\r\nabc\r\n0\r\n\r\n',
  )
  t.same(valuesOf(chunked, 'x-length'), ['none'])
  t.match(chunked, /3\r\nabc\r\n0/)
})

t.test('no body, but a length of 0, with POST', async (t) => {
  const { port } = await serve2(t, (stream, headers) => {
    stream.respond({ 'x-length': headers['content-length'] ?? 'none' }, { endStream: true })
  })
  const { port: gatewayPort } = await front2(t, port)
  const posted = await roundTrip(gatewayPort, 'POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  t.same(valuesOf(posted, 'x-length'), ['0'])
  t.same(valuesOf(await roundTrip(gatewayPort, get()), 'x-length'), ['none'])
})

t.test('interim responses, HEAD, 204, 304 and trailers', async (t) => {
  const { port } = await serve2(t, (stream, headers) => {
    switch (headers[':path']) {
      case '/early':
        stream.additionalHeaders({ ':status': 103, link: '</a.css>' })
        stream.respond({ 'content-length': 2 })
        return stream.end('ok')
      case '/204':
        return stream.respond({ ':status': 204 }, { endStream: true })
      case '/304':
        return stream.respond({ ':status': 304, 'content-length': 9 }, { endStream: true })
      case '/trailers':
        stream.respond({ trailer: 'x-sum' }, { waitForTrailers: true })
        stream.on('wantTrailers', () => stream.sendTrailers({ 'x-sum': '1', 'set-cookie': 'a=b' }))
        return stream.end('ok')
      default:
        stream.respond({ 'content-length': 7 })
        stream.end(headers[':method'] === 'HEAD' ? '' : 'content')
    }
  })
  const { port: gatewayPort } = await front2(t, port)
  const ask = (line: string) =>
    roundTrip(gatewayPort, `${line} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)
  const early = await ask('GET /early')
  t.match(early, /^HTTP\/1\.1 103 Early Hints\r\nlink: <\/a\.css>\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  t.ok(early.endsWith('\r\n\r\nok'))
  const head = await ask('HEAD /')
  t.same(valuesOf(head, 'content-length'), ['7'])
  t.ok(head.endsWith('\r\n\r\n'))
  t.match(await ask('GET /204'), /^HTTP\/1\.1 204 /)
  const notModified = await ask('GET /304')
  t.same(valuesOf(notModified, 'content-length'), ['9'])
  t.ok(notModified.endsWith('\r\n\r\n'))
  const trailers = await ask('GET /trailers')
  t.ok(trailers.endsWith('2\r\nok\r\n0\r\nx-sum: 1\r\n\r\n'), 'without those that may not be trailers')
  t.ok(fieldsOf(trailers).some(([name]) => name === 'trailer'))
})

t.test('over TLS: ALPN and the names of the certificate', async (t) => {
  const authority = new Authority()
  const identity = authority.issue({ names: ['localhost'] })
  const { port } = await serveTls2(t, identity, (stream, headers) => {
    stream.respond({})
    stream.end(`${headers[':scheme']} ${headers[':authority']}`)
  })
  const { port: gatewayPort } = await front2(t, 0, { ...tlsTarget(port), tls: { ca: authority.cert } })
  t.match(await roundTrip(gatewayPort, get()), `https localhost:${port}`)
})

t.test('requests share a connection', async (t) => {
  const waiting: (() => void)[] = []
  const { port, sessions } = await serve2(t, (stream) => {
    waiting.push(() => {
      stream.respond({})
      stream.end('ok')
    })
    if (waiting.length === 20) for (const answer of waiting) answer()
  })
  const { port: gatewayPort } = await front2(t, port)
  const answers = await Promise.all(Array.from({ length: 20 }, () => roundTrip(gatewayPort, get())))
  for (const answer of answers) t.match(answer, /^HTTP\/1\.1 200 /)
  t.equal(sessions.length, 1)
})

t.test('as many as the target permits, on as many connections as are configured; others wait', async (t) => {
  let [open, most, total] = [0, 0, 0]
  const { port, sessions } = await serve2(
    t,
    (stream) => {
      total++
      most = Math.max(most, ++open)
      setImmediate(() => {
        open--
        stream.respond({})
        stream.end('ok')
      })
    },
    { maxConcurrentStreams: 3 },
  )
  const { port: gatewayPort } = await front2(t, port, { connections: 2 })
  const answers = await Promise.all(Array.from({ length: 30 }, () => roundTrip(gatewayPort, get())))
  for (const answer of answers) t.match(answer, /^HTTP\/1\.1 200 /)
  t.equal(total, 30)
  t.ok(most <= 6, `${most} at once`)
  t.equal(sessions.length, 2)
})

t.test('a client that leaves cancels its stream, not the connection', async (t) => {
  let code = -1
  const { port, sessions } = await serve2(t, (stream, headers) => {
    stream.on('close', () => {
      if (headers[':path'] === '/hold') code = stream.rstCode
    })
    if (headers[':path'] === '/hold') {
      stream.session?.emit('held', stream)
      return
    }
    stream.respond({})
    stream.end('ok')
  })
  const { port: gatewayPort } = await front2(t, port)
  await roundTrip(gatewayPort, get())
  const [session] = sessions
  if (session === undefined) throw new Error('no session')
  const held = once(session, 'held')
  const wire = new RawClient(gatewayPort).send('GET /hold HTTP/1.1\r\nHost: a\r\n\r\n')
  const [stream] = await held
  wire.socket.destroy()
  await once(stream, 'close')
  t.equal(code, 8, 'CANCEL')
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 200 /)
  t.equal(sessions.length, 1)
})
