/** The response timeout of an upstream. */

import t from 'tap'
import { codeOf, eventually, front, get, roundTrip, serve, serveRaw, Wire } from './support.ts'

t.test('silence: 504, and the connection is closed', async (t) => {
  let gone = false
  const port = await serveRaw(t, (socket) => {
    socket.resume().on('close', () => {
      gone = true
    })
  })
  const { port: gatewayPort } = await front(t, port, { config: { responseTimeout: 150 } })
  const answer = await roundTrip(gatewayPort, get())
  t.match(answer, /^HTTP\/1\.1 504 /)
  t.equal(codeOf(answer), 'upstream_timeout')
  await eventually(() => gone)
})

t.test('an endless header section times out', async (t) => {
  const port = await serveRaw(t, (socket) => {
    const timer = setInterval(() => socket.write('X-A: a\r\n'), 20)
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\n')).on('close', () => clearInterval(timer))
  })
  const { port: gatewayPort } = await front(t, port, { config: { responseTimeout: 150 } })
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_timeout')
})

t.test('the timeout of the route precedes that of the upstream', async (t) => {
  const port = await serve(t, (_, response) => setTimeout(() => response.end('ok'), 300))
  const { port: patient } = await front(t, port, {
    config: { responseTimeout: 50 },
    route: { responseTimeout: 5000 },
  })
  t.match(await roundTrip(patient, get()), /^HTTP\/1\.1 200 /)
  const { port: hasty } = await front(t, port, {
    config: { responseTimeout: 5000 },
    route: { responseTimeout: 50 },
  })
  t.equal(codeOf(await roundTrip(hasty, get())), 'upstream_timeout')
})

t.test('a slow upload does not time out', async (t) => {
  const port = await serve(t, (request, response) => {
    request.resume().on('end', () => response.end('ok'))
  })
  const { port: gatewayPort } = await front(t, port, { config: { responseTimeout: 400 } })
  const wire = new Wire(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 3\r\nConnection: close\r\n\r\n',
  )
  for (const part of ['a', 'b', 'c']) {
    await new Promise((resolve) => setTimeout(resolve, 600))
    wire.send(part)
  }
  t.match(await wire.ended, /^HTTP\/1\.1 200 /)
})

t.test('an upstream that stops reading the body times out', async (t) => {
  const port = await serveRaw(t, (socket) => socket.once('data', () => socket.pause()))
  const { port: gatewayPort } = await front(t, port, { config: { responseTimeout: 200 } })
  const wire = new Wire(gatewayPort).send('POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 50000000\r\n\r\n')
  wire.send('a'.repeat(50_000_000))
  await wire.until('upstream_timeout')
  wire.socket.destroy()
})

t.test('a client that stops inside its body: 408', async (t) => {
  let gone = false
  const port = await serve(t, (request) => {
    request.resume().on('close', () => {
      gone = true
    })
  })
  const { port: gatewayPort } = await front(t, port, { bodyTimeout: 200, config: { responseTimeout: 100 } })
  const wire = new Wire(gatewayPort).send('POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 3\r\n\r\na')
  await wire.until('request_timeout')
  t.match(wire.received, /^HTTP\/1\.1 408 /)
  await eventually(() => gone)
  wire.socket.destroy()
})

t.test('waiting for a connection times out too', async (t) => {
  const port = await serveRaw(t, (socket) => socket.resume())
  const { port: gatewayPort } = await front(t, port, {
    connections: 1,
    config: { connectTimeout: 100, responseTimeout: 400 },
  })
  const answers = await Promise.all([
    roundTrip(gatewayPort, get()),
    roundTrip(gatewayPort, get()),
    roundTrip(gatewayPort, get()),
  ])
  t.same(answers.map(codeOf), ['upstream_timeout', 'upstream_timeout', 'upstream_timeout'])
})

t.test("the timeout ends with the response's header section", async (t) => {
  const port = await serve(t, (_, response) => {
    response.write('one')
    setTimeout(() => response.end('two'), 900)
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { config: { responseTimeout: 500 } })
  t.match(await roundTrip(gatewayPort, get()), /one[\s\S]*two/)
  t.equal(exchanges[0]?.refusal, null)
})
