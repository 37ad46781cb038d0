/** The timeout of bodies in both directions. */

import t from 'tap'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { holdTime } from '../support/held-time.ts'
import { front, serve, serveRaw, standstill } from './support.ts'

const request = 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n'

for (const [framing, head] of [
  ['a length', 'Content-Length: 100\r\n\r\npart'],
  ['chunks', 'Transfer-Encoding: chunked\r\n\r\n4\r\npart\r\n'],
  ['the end of the connection', '\r\npart'],
] as const) {
  t.test(`the upstream stops in a body framed by ${framing}: both sides are cut`, async (t) => {
    let gone = false
    const port = await serveRaw(t, (socket) => {
      socket.once('data', () => socket.write(`HTTP/1.1 200 OK\r\n${head}`)).on('close', () => (gone = true))
    })
    const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 200 })
    const answer = await roundTrip(gatewayPort, request)
    t.match(answer, 'part')
    t.notMatch(answer, /\r\n0\r\n\r\n$/, 'no bytes that could be read as the end')
    await until(() => gone, 'the end of the connection to the upstream')
    t.match(exchanges[0], { refusal: { code: 'upstream_timeout' }, cause: { code: 'UPSTREAM_BODY_TIMEOUT' } })
  })
}

t.test('HTTP/1.0, where the end of the connection ends the body: a reset', async (t) => {
  const port = await serveRaw(t, (socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\npart\r\n'),
    )
  })
  const { port: gatewayPort } = await front(t, port, { bodyTimeout: 200 })
  const wire = new RawClient(gatewayPort).send('GET / HTTP/1.0\r\n\r\n')
  await wire.ended
  t.equal(wire.reset, true)
})

t.test('a slow download without long pauses does not time out', async (t) => {
  const time = holdTime(t)
  let write: (text: string) => void = () => {}
  let end = () => {}
  const port = await serve(t, (_, response) => {
    write = (text) => response.write(text)
    end = () => response.end('z')
    response.flushHeaders()
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 1000 })
  const client = new RawClient(gatewayPort).send(request)
  await client.until('\r\n\r\n')
  for (const byte of ['a', 'b', 'c', 'd']) {
    time.pass(900)
    write(byte)
    await client.until(`1\r\n${byte}\r\n`)
  }
  end()
  t.match(await client.ended, /z\r\n0\r\n\r\n$/)
  t.equal(exchanges[0]?.refusal, null)
})

t.test('an upload neither', async (t) => {
  const time = holdTime(t)
  const port = await serve(
    t,
    (request, response) => void request.resume().on('end', () => response.end('ok')),
  )
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 1000 })
  const client = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 4\r\nConnection: close\r\n\r\n',
  )
  await until(() => exchanges.length === 1, 'the request')
  for (let sent = 1; sent <= 4; sent++) {
    time.pass(900)
    client.send('a')
    await until(() => exchanges[0]?.bytesIn === sent, 'a byte of the body')
  }
  t.match(await client.ended, /^HTTP\/1\.1 200 /)
})

t.test('a client that stops sending after the response has begun loses the response', async (t) => {
  const time = holdTime(t)
  let gone = false
  const port = await serve(t, (request, response) => {
    request.pipe(response)
    response.flushHeaders()
    response.on('close', () => (gone = true))
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 1000 })
  const client = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 8\r\n\r\nabc',
  )
  await client.until('abc')
  time.pass(1100)
  t.notMatch(await client.ended, /\r\n0\r\n\r\n$/)
  t.match(exchanges[0], { refusal: { code: 'request_timeout' } })
  await until(() => gone, 'the end of the connection to the upstream')
})

t.test('a slow client does not count as a silent upstream', async (t) => {
  const time = holdTime(t)
  const size = 40 * 1024 * 1024
  const port = await serve(t, (_, response) => void response.end(Buffer.alloc(size)))
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 2000 })
  const client = new RawClient(gatewayPort).send(request)
  const read = () => exchanges[0]?.bytesOut ?? 0
  for (let i = 0; i < 4; i++) {
    client.socket.pause()
    await until(() => read() > 0, 'the response')
    await standstill(read)
    time.pass(1500)
    client.socket.resume()
    // Enough for its system to report free buffer space: it may keep a few MB to itself.
    const had = client.received.length
    await until(() => client.received.length > had + size / 5 || client.socket.destroyed, 'more of the body')
  }
  await client.ended
  t.equal(exchanges[0]?.bytesOut, size)
  t.equal(exchanges[0]?.refusal, null)
})
