/** An upstream that breaks the protocol or disconnects: 502, or a visibly truncated transfer. */

import t from 'tap'
import { answering, codeOf, front, get, serveRaw } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const broken: Record<string, string> = {
  'bare garbage': 'hello there\r\n\r\n',
  'TLS instead of HTTP': '\x15\x03\x01\x00\x02\x02\x46',
  'two lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  'the same length twice': 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nab',
  'a list of lengths': 'HTTP/1.1 200 OK\r\nContent-Length: 1,1\r\n\r\na',
  'a negative length': 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n',
  'a length with a sign': 'HTTP/1.1 200 OK\r\nContent-Length: +1\r\n\r\na',
  'a length, then chunks':
    'HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n',
  'chunks, then a length':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n2\r\nab\r\n0\r\n\r\n',
  'a coding without a field for the client': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\nab',
  'the same under chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n',
  'chunks in chunks': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n2\r\nab\r\n0\r\n\r\n',
  'a space before the colon': 'HTTP/1.1 200 OK\r\nX-A : a\r\nContent-Length: 0\r\n\r\n',
  'a folded line': 'HTTP/1.1 200 OK\r\nX-A: a\r\n b\r\nContent-Length: 0\r\n\r\n',
  'a control byte in a value': 'HTTP/1.1 200 OK\r\nX-A: a\x01b\r\nContent-Length: 0\r\n\r\n',
  'a NUL in a value': 'HTTP/1.1 200 OK\r\nX-A: a\x00b\r\nContent-Length: 0\r\n\r\n',
  'a bare CR in a value': 'HTTP/1.1 200 OK\r\nX-A: a\rX-B: b\r\nContent-Length: 0\r\n\r\n',
  'a control byte in an interim answer': 'HTTP/1.1 103 Early Hints\r\nX-A: a\x01b\r\n\r\n',
  'a status below 100': 'HTTP/1.1 099 Low\r\nContent-Length: 0\r\n\r\n',
  'a status of two digits': 'HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n',
  'an unrequested switch of protocols':
    'HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  'a switch to nothing':
    'HTTP/1.1 101 Switching Protocols\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n',
  'a header section without end': `HTTP/1.1 200 OK\r\nX-A: ${'a'.repeat(100_000)}\r\n\r\n`,
  'a broken chunk behind a whole one, at once':
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\nzz\r\n',
  'header lines without end': `HTTP/1.1 200 OK\r\n${'X-A: aaaaaaaa\r\n'.repeat(10_000)}\r\n`,
}

for (const [name, bytes] of Object.entries(broken)) {
  t.test(`${name}: 502 upstream_protocol_error`, async (t) => {
    const port = await answering(t, bytes)
    const { port: gatewayPort, exchanges } = await front(t, port)
    const answer = await roundTrip(gatewayPort, get())
    t.match(answer, /^HTTP\/1\.1 502 Bad Gateway\r\n/)
    t.equal(codeOf(answer), 'upstream_protocol_error')
    t.ok(exchanges[0]?.cause instanceof Error, 'the log has the cause')
  })
}

for (const [name, act] of Object.entries({
  'closes without a byte': (socket: import('node:net').Socket) => socket.end(),
  'resets without a byte': (socket: import('node:net').Socket) => socket.resetAndDestroy(),
  'closes within the header section': (socket: import('node:net').Socket) =>
    socket.end('HTTP/1.1 200 OK\r\nX-A'),
  'closes after an interim answer': (socket: import('node:net').Socket) =>
    socket.end('HTTP/1.1 103 Early Hints\r\n\r\n'),
})) {
  t.test(`${name}: 502 upstream_protocol_error after one request`, async (t) => {
    let requests = 0
    const port = await serveRaw(t, (socket) =>
      socket.on('data', () => {
        requests++
        act(socket)
      }),
    )
    const { port: gatewayPort } = await front(t, port)
    t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_protocol_error')
    t.equal(requests, 1)
  })
}

const LENGTH = 'Content-Length: 100\r\n\r\npart'
const CHUNKS = 'Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n'

for (const [name, head, then] of [
  ['a length, then the end', LENGTH, (socket) => socket.end()],
  ['chunks, then the end', CHUNKS, (socket) => socket.end()],
  ['a length, then a reset', LENGTH, (socket) => socket.resetAndDestroy()],
  ['chunks, then a reset', CHUNKS, (socket) => socket.resetAndDestroy()],
  ['chunks, then none', CHUNKS, (socket) => socket.write('zz\r\n')],
] satisfies [string, string, (socket: import('node:net').Socket) => unknown][]) {
  for (const version of ['1.1', '1.0']) {
    t.test(`${name}, in the middle: HTTP/${version} detects it`, async (t) => {
      const begun = Promise.withResolvers<unknown>()
      const port = await serveRaw(t, (socket) => {
        socket.once('data', () => {
          socket.write(`HTTP/1.1 200 OK\r\n${head}`)
          void begun.promise.then(() => then(socket))
        })
      })
      const { port: gatewayPort, exchanges } = await front(t, port)
      const wire = new RawClient(gatewayPort).send(`GET / HTTP/${version}\r\nHost: gw\r\n\r\n`)
      begun.resolve(wire.until('part'))
      const answer = await wire.ended
      t.notMatch(answer, /0\r\n\r\n$/, 'no last chunk')
      t.notMatch(answer, 'HTTP/1.1 502', 'and nothing written into it')
      if (version === '1.0') t.equal(wire.reset, true, 'reset, because a plain end would complete the body')
      t.match(exchanges[0], { refusal: { code: 'upstream_protocol_error' } })
    })
  }
}

t.test('an upstream that stops inside its response times out', async (t) => {
  let gone = false
  const port = await serveRaw(t, (socket) => {
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart'))
    socket.on('close', () => {
      gone = true
    })
  })
  const { port: gatewayPort } = await front(t, port, { bodyTimeout: 100 })
  t.ok((await roundTrip(gatewayPort, get())).endsWith('\r\n\r\npart'))
  await until(() => gone, 'the end of the connection to the upstream')
})
