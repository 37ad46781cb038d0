/** A response before the end of the request (401, 413) reaches the client and leaves nothing behind. */

import t from 'tap'
import { front, serve, serveRaw, standstill } from './support.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

t.test('the response arrives during the upload, and the connection continues after the body', async (t) => {
  const seen: string[] = []
  const port = await serve(t, (request, response) => {
    seen.push(`${request.method} ${request.url}`)
    if (request.method === 'GET') return void response.end('second')
    response.writeHead(413, { 'Content-Length': 5 })
    response.end('first')
  })
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 100000\r\n\r\n',
  )
  wire.send('a'.repeat(1000))
  await wire.until('\r\n\r\nfirst')
  wire.send(`${'GET /admin HTTP/1.1\r\nHost: gw\r\n\r\n'.padEnd(99_000, 'a')}`)
  wire.send('GET /next HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.ok((await wire.ended).endsWith('\r\n\r\nsecond'))
  t.same(seen, ['POST /', 'GET /next'])
})

t.test('also when the upstream closes at once after it', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.once('data', () =>
      socket.end('HTTP/1.1 401 Unauthorized\r\nConnection: close\r\nContent-Length: 2\r\n\r\nno'),
    ),
  )
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n',
  )
  await wire.until('\r\n\r\nno')
  wire.send('1\r\na\r\n0\r\n\r\nGET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  const all = await wire.ended
  t.equal(all.split('HTTP/1.1 401').length, 3)
})

t.test('a client that sends beyond the limit loses the connection', async (t) => {
  const port = await serve(t, (_, response) => {
    response.writeHead(401, { 'Content-Length': 0 })
    response.end()
  })
  const { port: gatewayPort } = await front(t, port, { route: { maxBody: 200_000 } })
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n',
  )
  await wire.until('HTTP/1.1 401')
  const chunk = `10000\r\n${'a'.repeat(65536)}\r\n`
  let sent = 0
  // More than the buffers of the system hold.
  while (sent < 1000 && !wire.socket.destroyed) {
    sent++
    await new Promise((resolve) => wire.socket.write(chunk, resolve))
    await new Promise(setImmediate)
  }
  await wire.ended
  t.ok(sent < 1000, `after ${sent} chunks`)
})

t.test('a body that the upstream never reads does not delay its response', async (t) => {
  const port = await serveRaw(t, (socket) => {
    socket.once('data', () => {
      socket.pause()
      const answer = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
      void standstill(() => exchanges[0]?.bytesIn ?? 0).then(answer)
    })
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 20000000\r\n\r\n',
  )
  wire.send('a'.repeat(20_000_000))
  await wire.until('\r\n\r\nok')
  await until(() => exchanges[0]?.request.complete === true, 'the whole request')
  wire.send('GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.match((await wire.ended).slice(1), 'HTTP/1.1 200')
})
