/** The timeout of bodies in both directions. */

import t from 'tap'
import { eventually, front, roundTrip, serve, serveRaw, Wire } from './support.ts'

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
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
    await eventually(() => gone)
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
  const wire = new Wire(gatewayPort).send('GET / HTTP/1.0\r\n\r\n')
  await wire.ended
  t.equal(wire.reset, true)
})

t.test('a slow download without long pauses does not time out', async (t) => {
  const port = await serve(t, async (_, response) => {
    for (let i = 0; i < 8; i++) {
      response.write('a')
      await pause(200)
    }
    response.end('z')
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 1000 })
  t.match(await roundTrip(gatewayPort, request), /z\r\n0\r\n\r\n$/)
  t.equal(exchanges[0]?.refusal, null)
})

t.test('an upload neither', async (t) => {
  const port = await serve(
    t,
    (request, response) => void request.resume().on('end', () => response.end('ok')),
  )
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 1000 })
  const wire = new Wire(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 8\r\nConnection: close\r\n\r\n',
  )
  for (let i = 0; i < 8; i++) {
    await pause(200)
    wire.send('a')
  }
  t.match(await wire.ended, /^HTTP\/1\.1 200 /)
  t.equal(exchanges[0]?.bytesIn, 8)
})

t.test('a client that stops sending after the response has begun loses the response', async (t) => {
  let gone = false
  const port = await serve(t, (request, response) => {
    request.pipe(response)
    response.flushHeaders()
    response.on('close', () => (gone = true))
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 300 })
  const wire = new Wire(gatewayPort).send('POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 8\r\n\r\nabc')
  await wire.until('abc')
  t.notMatch(await wire.ended, /\r\n0\r\n\r\n$/)
  t.match(exchanges[0], { refusal: { code: 'request_timeout' } })
  await eventually(() => gone)
})

t.test('a slow client does not count as a silent upstream', async (t) => {
  const size = 20 * 1024 * 1024
  const port = await serve(t, (_, response) => void response.end(Buffer.alloc(size)))
  const { port: gatewayPort, exchanges } = await front(t, port, { bodyTimeout: 2000 })
  const wire = new Wire(gatewayPort).send(request)
  for (let i = 0; i < 4; i++) {
    wire.socket.pause()
    await pause(700)
    wire.socket.resume()
    // Enough for its system to report free buffer space: it may keep a few MB to itself.
    const had = wire.received.length
    await eventually(() => wire.received.length > had + size / 5 || wire.socket.destroyed)
  }
  await wire.ended
  t.equal(exchanges[0]?.bytesOut, size)
  t.equal(exchanges[0]?.refusal, null)
})
