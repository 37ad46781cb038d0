/** A client that disconnects cancels its request at the upstream. */

import t from 'tap'
import { eventually, front, serve, Wire } from './support.ts'

t.test('before the response', async (t) => {
  let asked = 0
  let cancelled = 0
  const port = await serve(t, (request, response) => {
    asked++
    request.resume()
    response.on('close', () => cancelled++)
  })
  const { port: gate, exchanges } = await front(t, port)
  const wires = Array.from({ length: 50 }, () => new Wire(gate).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n'))
  await eventually(() => asked === 50)
  for (const wire of wires) wire.socket.destroy()
  await eventually(() => cancelled === 50)
  t.ok(exchanges.every(({ aborted, refusal }) => aborted && refusal === null))
})

t.test('during the upload', async (t) => {
  let cancelled = false
  let whole = false
  let asked = 0
  const port = await serve(t, (request) => {
    asked++
    request.resume().on('end', () => {
      whole = true
    })
    request.on('close', () => {
      cancelled = true
    })
  })
  const { port: gate, exchanges } = await front(t, port)
  for (const [i, framing] of ['Content-Length: 100', 'Transfer-Encoding: chunked'].entries()) {
    cancelled = false
    const wire = new Wire(gate).send(`POST / HTTP/1.1\r\nHost: gw\r\n${framing}\r\n\r\n2\r\nab\r\n`)
    await eventually(() => (exchanges[i]?.bytesIn ?? 0) > 0 && asked === i + 1)
    wire.socket.destroy()
    await eventually(() => cancelled)
    t.equal(whole, false, 'a part is not taken for the whole')
  }
})

t.test('while it waits in the queue: it leaves the queue at once', async (t) => {
  let asked = 0
  const held: (() => void)[] = []
  const port = await serve(t, (request, response) => {
    asked++
    request.resume()
    held.push(() => response.end('done'))
  })
  const { port: gate, upstream, exchanges } = await front(t, port, { connections: 2, uploads: 1 })
  const pending = () => upstream.targets()[0]?.pending
  const post = 'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 100000\r\n\r\n'
  const read = 'GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n'
  const wires = [post, read].map((text) => new Wire(gate).send(text))
  await eventually(() => asked === 2)
  // For a place for its body, and for a connection.
  const waiting = [post, read, post, read].map((text) => new Wire(gate).send(text))
  await eventually(() => pending() === 6)
  for (const { socket } of waiting.slice(0, 3)) socket.resetAndDestroy()
  await eventually(() => pending() === 3)
  t.equal(exchanges.filter(({ aborted, refusal }) => aborted && refusal === null).length, 3)
  t.equal(asked, 2)
  // One that holds a place for its body, and waits for a connection: that place is free again.
  wires[0]?.socket.destroy()
  await eventually(() => asked === 3 && pending() === 2)
  const [next, last] = [post, post].map((text) => new Wire(gate).send(text))
  await eventually(() => pending() === 4)
  next?.socket.destroy()
  await eventually(() => pending() === 3)
  last?.send('a'.repeat(100_000))
  for (const end of held.splice(0)) end()
  await eventually(() => held.length === 1)
  held[0]?.()
  t.match(await last?.until('done'), /^HTTP\/1\.1 200 /)
  await eventually(() => pending() === 0)
})

t.test('during the response', async (t) => {
  let cancelled = false
  const port = await serve(t, (_, response) => {
    response.write('one')
    response.on('close', () => {
      cancelled = true
    })
  })
  const { port: gate, exchanges } = await front(t, port)
  const wire = new Wire(gate).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await wire.until('one')
  wire.socket.destroy()
  await eventually(() => cancelled)
  t.match(exchanges[0], { aborted: true, refusal: null })
})

t.test('before a connection is available', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gate, exchanges } = await front(t, port)
  const wire = new Wire(gate).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await eventually(() => exchanges.length === 1)
  wire.socket.resetAndDestroy()
  await eventually(() => exchanges[0]?.response.destroyed === true)
  const next = new Wire(gate).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  await next.until('ok')
  next.socket.destroy()
})
