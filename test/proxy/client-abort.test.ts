/** A client that disconnects cancels its request at the upstream. */

import t from 'tap'
import { front, serve } from './support.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

t.test('before the response', async (t) => {
  let requests = 0
  let cancelled = 0
  const port = await serve(t, (request, response) => {
    requests++
    request.resume()
    response.on('close', () => cancelled++)
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wires = Array.from({ length: 50 }, () =>
    new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n'),
  )
  await until(() => requests === 50, 'the requests at the upstream')
  for (const wire of wires) wire.socket.destroy()
  await until(() => cancelled === 50, 'the cancellations at the upstream')
  t.ok(exchanges.every(({ aborted, refusal }) => aborted && refusal === null))
})

t.test('during the upload', async (t) => {
  let cancelled = false
  let whole = false
  let requests = 0
  const port = await serve(t, (request) => {
    requests++
    request.resume().on('end', () => {
      whole = true
    })
    request.on('close', () => {
      cancelled = true
    })
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  for (const [i, framing] of ['Content-Length: 100', 'Transfer-Encoding: chunked'].entries()) {
    cancelled = false
    const wire = new RawClient(gatewayPort).send(
      `POST / HTTP/1.1\r\nHost: gw\r\n${framing}\r\n\r\n2\r\nab\r\n`,
    )
    await until(() => (exchanges[i]?.bytesIn ?? 0) > 0 && requests === i + 1, 'the upload at the upstream')
    wire.socket.destroy()
    await until(() => cancelled, 'the cancellation at the upstream')
    t.equal(whole, false, 'a partial body is not read as complete')
  }
})

t.test('while it waits in the queue: it leaves the queue at once', async (t) => {
  let requests = 0
  const held: (() => void)[] = []
  const port = await serve(t, (request, response) => {
    requests++
    request.resume()
    held.push(() => response.end('done'))
  })
  const { port: gatewayPort, upstream, exchanges } = await front(t, port, { connections: 2, uploads: 1 })
  const pending = () => upstream.targets()[0]?.pending
  const post = 'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 100000\r\n\r\n'
  const read = 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n'
  const wires = [post, read].map((text) => new RawClient(gatewayPort).send(text))
  await until(() => requests === 2, 'two requests at the upstream')
  // Each waits for an upload slot, and for a connection.
  const waiting = [post, read, post, read].map((text) => new RawClient(gatewayPort).send(text))
  await until(() => pending() === 6, 'six pending requests')
  for (const { socket } of waiting.slice(0, 3)) socket.resetAndDestroy()
  await until(() => pending() === 3, 'three pending requests')
  t.equal(exchanges.filter(({ aborted, refusal }) => aborted && refusal === null).length, 3)
  t.equal(requests, 2)
  // One holds an upload slot and waits for a connection: the slot is free again.
  wires[0]?.socket.destroy()
  await until(() => requests === 3 && pending() === 2, 'the third request at the upstream')
  const [next, last] = [post, post].map((text) => new RawClient(gatewayPort).send(text))
  await until(() => pending() === 4, 'four pending requests')
  next?.socket.destroy()
  await until(() => pending() === 3, 'three pending requests')
  last?.send('a'.repeat(100_000))
  for (const end of held.splice(0)) end()
  await until(() => held.length === 1, 'the request at the upstream')
  held[0]?.()
  t.match(await last?.until('done'), /^HTTP\/1\.1 200 /)
  await until(() => pending() === 0, 'the end of the pending requests')
})

t.test('during the response', async (t) => {
  let cancelled = false
  const port = await serve(t, (_, response) => {
    response.write('one')
    response.on('close', () => {
      cancelled = true
    })
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wire = new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await wire.until('one')
  wire.socket.destroy()
  await until(() => cancelled, 'the cancellation at the upstream')
  t.match(exchanges[0], { aborted: true, refusal: null })
})

t.test('before a connection is available', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wire = new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await until(() => exchanges.length === 1, 'the request')
  wire.socket.resetAndDestroy()
  await until(() => exchanges[0]?.response.destroyed === true, 'the end of the response')
  const next = new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await next.until('ok')
  next.socket.destroy()
})
