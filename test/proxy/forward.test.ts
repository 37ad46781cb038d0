/** Forwarding: requests and responses pass, streamed. */

import { createHash } from 'node:crypto'
import { createServer, request as httpRequest } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { nextHop } from '../../src/http/server/next-hop.ts'
import t from 'tap'
import { codeOf, front, get, serve, serveRaw, valuesOf } from './support.ts'
import { listen } from '../support/listen.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

t.test('method, target, body and response pass', async (t) => {
  const port = await serve(t, (request, response) => {
    let body = ''
    request.on('data', (chunk) => {
      body += chunk
    })
    request.on('end', () => {
      response.setHeader('x-seen', `${request.method} ${request.url} ${body}`)
      response.statusCode = 201
      response.statusMessage = 'Made'
      response.end('hello')
    })
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const answer = await roundTrip(
    gatewayPort,
    'POST /a%20b/c?x=1&y=%2f?z HTTP/1.1\r\nHost: gw\r\nContent-Length: 3\r\nConnection: close\r\n\r\nabc',
  )
  t.match(answer, /^HTTP\/1\.1 201 Made\r\n/)
  t.same(valuesOf(answer, 'x-seen'), ['POST /a%20b/c?x=1&y=%2f?z abc'])
  t.same(valuesOf(answer, 'x-request-id'), ['id-1'])
  t.ok(answer.endsWith('\r\n\r\nhello'))
  t.match(exchanges[0], { bytesIn: 3, bytesOut: 5, aborted: false, refusal: null })
  const hop = exchanges[0] === undefined ? undefined : nextHop.get(exchanges[0])
  t.ok((hop?.respondedAt ?? 0) >= (hop?.startedAt ?? Infinity))
})

t.test('a method without a body gets none, POST gets Content-Length: 0', async (t) => {
  const seen: string[] = []
  const port = await serveRaw(t, (socket) =>
    socket.on('data', (bytes) => {
      seen.push(bytes.toString())
      socket.write('HTTP/1.1 204 No Content\r\n\r\n')
    }),
  )
  const { port: gatewayPort } = await front(t, port)
  for (const method of ['GET', 'DELETE', 'POST'])
    await roundTrip(
      gatewayPort,
      `${method} / HTTP/1.1\r\nHost: gw\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
    )
  await roundTrip(gatewayPort, 'POST / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.same(
    seen.map((request) => valuesOf(request, 'content-length')),
    [[], [], ['0'], ['0']],
  )
  t.same(
    seen.map((request) => valuesOf(request, 'transfer-encoding')),
    [[], [], [], []],
  )
})

t.test('10 MB up and down, byte for byte', async (t) => {
  const chunk = Buffer.alloc(64 * 1024, 'seatgate')
  const chunks = 160
  const expected = createHash('sha256')
  for (let i = 0; i < chunks; i++) expected.update(chunk)
  const digest = expected.digest('hex')
  const port = await serve(t, async (request, response) => {
    const hash = createHash('sha256')
    for await (const part of request) hash.update(part)
    response.setHeader('x-digest', hash.digest('hex'))
    await pipeline(Readable.from(repeated(chunk, chunks)), response)
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const sending = httpRequest({ port: gatewayPort, host: '127.0.0.1', method: 'POST', path: '/' })
  const answered = new Promise<string[]>((resolve, reject) => {
    sending.on('error', reject).on('response', async (response) => {
      const hash = createHash('sha256')
      for await (const part of response) hash.update(part)
      resolve([String(response.headers['x-digest']), hash.digest('hex')])
    })
  })
  await pipeline(Readable.from(repeated(chunk, chunks)), sending)
  t.same(await answered, [digest, digest])
  t.match(exchanges[0], { bytesIn: chunk.length * chunks, bytesOut: chunk.length * chunks })
})

function* repeated(chunk: Buffer, times: number) {
  for (let i = 0; i < times; i++) yield chunk
}

t.test('the head of a response passes before its body arrives', async (t) => {
  let finish = () => {}
  const port = await serve(t, (_, response) => {
    response.flushHeaders()
    finish = () => response.end('late')
  })
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await wire.until('\r\n\r\n')
  finish()
  t.ok((await wire.until('0\r\n\r\n')).endsWith('4\r\nlate\r\n0\r\n\r\n'))
  wire.socket.destroy()
})

t.test('bodies are streamed, in both directions at once', async (t) => {
  const port = await serve(t, (request, response) => {
    response.flushHeaders()
    request.pipe(response)
  })
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n',
  )
  await wire.until('3\r\none')
  wire.send('3\r\ntwo\r\n')
  await wire.until('3\r\ntwo')
  wire.send('0\r\n\r\n')
  await wire.until('\r\n0\r\n\r\n')
  wire.socket.destroy()
})

t.test('upstream connections are reused', async (t) => {
  let connections = 0
  const port = await serveRaw(t, (socket) => {
    connections++
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok'))
  })
  const { port: gatewayPort } = await front(t, port)
  for (let i = 0; i < 5; i++)
    await roundTrip(gatewayPort, 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.equal(connections, 1)
})

t.test('to HTTP/1.0 a response without a length ends with the connection, and has no chunks', async (t) => {
  const port = await serve(t, (_, response) => {
    response.setHeader('trailer', 'x-sum')
    response.write('one')
    response.addTrailers({ 'x-sum': '1' })
    response.end('two')
  })
  const { port: gatewayPort } = await front(t, port)
  const answer = await roundTrip(gatewayPort, 'GET / HTTP/1.0\r\n\r\n')
  t.match(answer, /^HTTP\/1\.1 200 OK\r\n/)
  t.ok(answer.endsWith('\r\n\r\nonetwo'))
  t.same(valuesOf(answer, 'trailer'), [])
})

t.test('a request decided before a reload closed its upstream is still served', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gatewayPort, upstream } = await front(t, port)
  await roundTrip(gatewayPort, 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  await upstream.close()
  const answer = await roundTrip(gatewayPort, 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.match(answer, /^HTTP\/1\.1 200 /)
})

t.test(
  'a request that is cancelled while it waits for a connection does not use up the next free connection',
  async (t) => {
    let connections = 0
    const held: (() => void)[] = []
    const port = await serveRaw(t, (socket) => {
      connections++
      socket.on('data', () => held.push(() => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')))
    })
    const { port: gatewayPort, exchanges } = await front(t, port, { connections: 1 })
    const first = new RawClient(gatewayPort).send('GET /1 HTTP/1.1\r\nHost: gw\r\n\r\n')
    await until(() => held.length === 1, 'the request at the upstream')
    const second = new RawClient(gatewayPort).send('GET /2 HTTP/1.1\r\nHost: gw\r\n\r\n')
    await until(() => exchanges.length === 2, 'the second request')
    second.socket.destroy()
    await until(() => exchanges[1]?.aborted === true, 'the abort of the second request')
    held.shift()?.()
    await first.until('\r\n\r\n')
    first.send('GET /3 HTTP/1.1\r\nHost: gw\r\n\r\n')
    await until(() => held.length === 1, 'the request at the upstream')
    held.shift()?.()
    await until(() => first.received.split('HTTP/1.1 200').length === 3, 'two responses')
    t.equal(connections, 1)
    first.socket.destroy()
  },
)

t.test('a request that cannot be written is refused, not fatal', async (t) => {
  const port = await serve(t, (_, response) => response.end())
  const { port: gatewayPort } = await front(t, port, { decision: { path: 'not-a-path' } })
  const answer = await roundTrip(gatewayPort, 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.equal(codeOf(answer), 'request_malformed')
})

t.test('requests that a client pipelines are answered in order', async (t) => {
  const port = await serve(t, async (request, response) => {
    // Late: the responses to the others would have come by the time that another client has its own.
    if (request.url === '/1') for (let i = 0; i < 3; i++) await roundTrip(gatewayPort, get())
    response.end(`answer ${request.url}`.padEnd(100_000, '.'))
  })
  const { port: gatewayPort } = await front(t, port)
  const answer = await roundTrip(
    gatewayPort,
    'GET /1 HTTP/1.1\r\nHost: gw\r\n\r\nGET /2 HTTP/1.1\r\nHost: gw\r\n\r\nGET /3 HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n',
  )
  t.same(answer.match(/answer \/\d/g), ['answer /1', 'answer /2', 'answer /3'])
})

t.test('a target by IPv6', async (t) => {
  const server = createServer((_, response) => response.end('ok'))
  const targets = [new URL(`http://[::1]:${await listen(t, server, '::1')}`)]
  const { port: gatewayPort } = await front(t, 1, { targets })
  t.match(
    await roundTrip(gatewayPort, 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n'),
    /^HTTP\/1\.1 200 /,
  )
})
