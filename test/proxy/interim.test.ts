/** Interim responses (1xx, RFC 9110, section 15.2; RFC 8297) are relayed and do not end the exchange. */

import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { codeOf, front, get, serve, serveRaw } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

t.test('103 and 102 precede the response, with their fields', async (t) => {
  let finish = () => {}
  const port = await serveRaw(t, (socket) =>
    socket.on('data', () => {
      socket.write(
        'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </\xe4.js>\r\nX-Seatgate-User: evil\r\nX-Hop: 1\r\nConnection: x, X-hop\r\nx_hop: 2\r\n\r\n',
        'latin1',
      )
      socket.write('HTTP/1.1 102 Processing\r\n\r\n')
      finish = () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
    }),
  )
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(get())
  const hints = await wire.until('102 Processing\r\n\r\n')
  t.equal(
    hints,
    'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\nLink: </\xe4.js>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n',
  )
  finish()
  t.match(await wire.ended, /102 Processing\r\n\r\nHTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\nok$/)
})

t.test('not to HTTP/1.0', async (t) => {
  const port = await serve(t, (_, response) => {
    response.writeEarlyHints({ link: '</a.css>; rel=preload' })
    response.end('ok')
  })
  const { port: gatewayPort } = await front(t, port)
  t.match(await roundTrip(gatewayPort, 'GET / HTTP/1.0\r\n\r\n'), /^HTTP\/1\.1 200 /)
})

t.test('an upstream that sends nothing else meets the response timeout', async (t) => {
  const time = holdTime(t)
  let gone = false
  let interim = () => {}
  const port = await serveRaw(t, (socket) => {
    interim = () => socket.write('HTTP/1.1 102 Processing\r\n\r\n')
    socket.on('data', interim).on('close', () => {
      gone = true
    })
  })
  const { port: gatewayPort } = await front(t, port, { responseTimeout: 1000 })
  const wire = new RawClient(gatewayPort).send(get())
  await wire.until('102 Processing')
  time.pass(600)
  interim()
  await until(() => wire.received.split('102 Processing').length === 3, 'the second interim response')
  time.pass(600)
  const answer = await wire.ended
  t.match(answer, /102 Processing[\s\S]*HTTP\/1\.1 504 /)
  t.equal(codeOf(answer), 'upstream_timeout')
  await until(() => gone, 'the end of the connection to the upstream')
})

for (const http2 of [false, true])
  t.test(`a flood of them is dropped for a client of HTTP/${http2 ? 2 : 1} that does not read`, async (t) => {
    const time = holdTime(t)
    let sent = 0
    const hint = `HTTP/1.1 103 Early Hints\r\nLink: ${'x'.repeat(16_000)}\r\n\r\n`
    const port = await serveRaw(t, (socket) => {
      // One at a time, so that the buffers of the gateway are seen as they fill.
      const flood = (error?: Error | null) => {
        if (error) return
        socket.write(hint, flood)
        sent += hint.length
        largest = Math.max(largest, exchanges[0]?.request.socket.writableLength ?? 0)
      }
      socket.once('data', () => flood())
    })
    let largest = 0
    const { port: gatewayPort, exchanges } = await front(t, port, {
      http2,
      responseTimeout: 1000,
    })
    const { socket } = http2 ? RawHttp2.plain(gatewayPort).headers(1) : new RawClient(gatewayPort).send(get())
    socket.pause()
    // More than the buffers of the system and the gateway hold: the gateway has dropped some.
    await until(() => sent > 64 * 1024 * 1024 && largest > 0, 'more than the buffers hold')
    time.pass(1001)
    await until(() => exchanges[0]?.refusal?.code === 'upstream_timeout', 'the timeout')
    t.ok(largest < 1024 * 1024, `at most ${largest} bytes`)
    socket.destroy()
  })
