/** The response timeout of an upstream. */

import t from 'tap'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { holdTime, untilStepped } from '../support/held-time.ts'
import { codeOf, front, get, serve, serveRaw } from './support.ts'

/** More than from a deadline to the check that finds it. */
const LATE = 50

t.test('silence: 504, and the connection is closed', async (t) => {
  let gone = false
  const port = await serveRaw(t, (socket) => {
    socket.resume().on('close', () => {
      gone = true
    })
  })
  const { port: gatewayPort } = await front(t, port, { responseTimeout: 150 })
  const answer = await roundTrip(gatewayPort, get())
  t.match(answer, /^HTTP\/1\.1 504 /)
  t.equal(codeOf(answer), 'upstream_timeout')
  await until(() => gone, 'the end of the connection to the upstream')
})

t.test('an endless header section times out', async (t) => {
  const port = await serveRaw(t, (socket) => {
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\n')
      const timer = setInterval(() => socket.write('X-A: a\r\n'), 20)
      socket.on('close', () => clearInterval(timer))
    })
  })
  const { port: gatewayPort } = await front(t, port, { responseTimeout: 150 })
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_timeout')
})

t.test('the timeout of the route precedes that of the upstream', async (t) => {
  const time = holdTime(t)
  const answers: (() => void)[] = []
  const port = await serve(t, (_, response) => void answers.push(() => response.end('ok')))
  const { port: patient } = await front(t, port, {
    responseTimeout: 1000,
    route: { responseTimeout: 5000 },
  })
  const answered = roundTrip(patient, get())
  await until(() => answers.length === 1, 'the request at the upstream')
  time.pass(4000)
  answers[0]?.()
  t.match(await answered, /^HTTP\/1\.1 200 /)
  const { port: hasty } = await front(t, port, {
    responseTimeout: 5000,
    route: { responseTimeout: 1000 },
  })
  const refused = roundTrip(hasty, get())
  await until(() => answers.length === 2, 'the request at the upstream')
  time.pass(1000 + LATE)
  t.equal(codeOf(await refused), 'upstream_timeout')
})

t.test('a slow upload does not time out', async (t) => {
  const time = holdTime(t)
  const port = await serve(t, (request, response) => {
    request.resume().on('end', () => response.end('ok'))
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { responseTimeout: 400 })
  const client = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 3\r\nConnection: close\r\n\r\n',
  )
  await until(() => exchanges.length === 1, 'the request')
  for (const part of ['a', 'b', 'c']) {
    time.pass(600)
    const before = exchanges[0]?.bytesIn ?? 0
    client.send(part)
    await until(() => exchanges[0]?.bytesIn === before + 1, 'a byte of the body')
  }
  t.match(await client.ended, /^HTTP\/1\.1 200 /)
})

t.test('an upstream that stops reading the body times out', async (t) => {
  const port = await serveRaw(t, (socket) => socket.once('data', () => socket.pause()))
  const { port: gatewayPort } = await front(t, port, { responseTimeout: 200 })
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 50000000\r\n\r\n',
  )
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
  const { port: gatewayPort } = await front(t, port, { bodyTimeout: 200, responseTimeout: 100 })
  const wire = new RawClient(gatewayPort).send('POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 3\r\n\r\na')
  await wire.until('request_timeout')
  t.match(wire.received, /^HTTP\/1\.1 408 /)
  await until(() => gone, 'the end of the connection to the upstream')
  wire.socket.destroy()
})

t.test('waiting for a connection times out too', async (t) => {
  const time = holdTime(t)
  const port = await serveRaw(t, (socket) => socket.resume())
  const { port: gatewayPort } = await front(t, port, {
    connections: 1,
    connectTimeout: 3_600_000,
    responseTimeout: 400,
  })
  const clients = Array.from({ length: 3 }, () => new RawClient(gatewayPort).send(get()))
  await untilStepped(time, () => clients.every(({ received }) => codeOf(received) !== undefined))
  const timeouts = clients.map(({ received }) => codeOf(received))
  t.same(timeouts, ['upstream_timeout', 'upstream_timeout', 'upstream_timeout'])
})

t.test("the timeout ends with the response's header section", async (t) => {
  const time = holdTime(t)
  let finish = () => {}
  const port = await serve(t, (_, response) => {
    response.write('one')
    finish = () => response.end('two')
  })
  const { port: gatewayPort, exchanges } = await front(t, port, { responseTimeout: 500 })
  const client = new RawClient(gatewayPort).send(get())
  await client.until('one')
  time.pass(900)
  finish()
  t.match(await client.ended, /one[\s\S]*two/)
  t.equal(exchanges[0]?.refusal, null)
})
