/** Slow clients and upstreams cause backpressure, not buffering. */

import { connect } from 'node:net'
import t from 'tap'
import type { ClientRequest } from '../../src/http/server/client-request.ts'
import type { ClientResponse } from '../../src/http/server/client-response.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { DATA, RST_STREAM, SETTINGS, WINDOW_UPDATE } from '../../src/http/wire/http2/http2-frames.ts'
import { forward } from '../../src/proxy/forward.ts'
import { Upstream } from '../../src/proxy/upstream.ts'
import { acceptor, authority, certificate, openSecured } from '../http/server/tls-support.ts'
import { holdTime } from '../support/held-time.ts'
import {
  evaluationOf,
  front,
  refuse,
  routeTo,
  serve,
  serveRaw,
  standstill,
  upstreamConfig,
} from './support.ts'
import { RawClient } from '../support/raw-client.ts'
import { RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

const MEBIBYTE = 1024 * 1024
const chunk = Buffer.alloc(MEBIBYTE, 'a')

/** More than the gateway and the system hold between them. */
const TOTAL = 64 * MEBIBYTE
const MOST = 32 * MEBIBYTE

t.test('a client that does not read stops the upstream', async (t) => {
  let sent = 0
  const port = await serve(t, (_, response) => {
    const more = () => {
      while (sent < TOTAL) {
        sent += MEBIBYTE
        if (!response.write(chunk)) return
      }
      response.end()
    }
    response.on('drain', more)
    more()
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const socket = connect(gatewayPort, '127.0.0.1')
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  socket.pause()
  await until(() => sent > 0, 'the response of the upstream')
  const stopped = await standstill(() => sent)
  t.ok(stopped < MOST, `${stopped / MEBIBYTE} MiB were read from the upstream`)
  t.ok((exchanges[0]?.response.writableLength ?? Infinity) < MEBIBYTE, 'the gateway buffers little')
  socket.resume()
  await until(() => exchanges[0]?.response.writableFinished === true, 'the whole response at the client')
  t.equal(exchanges[0]?.bytesOut, TOTAL, 'it continues when the client does')
  socket.destroy()
})

t.test('an upstream that does not read stops the client', async (t) => {
  let go = () => {}
  const port = await serveRaw(t, (socket) => {
    socket.once('data', () => socket.pause())
    go = () => {
      socket.resume()
      socket.on('data', (bytes) => {
        if (bytes.includes('END')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')
      })
    }
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(
    `POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: ${TOTAL + 3}\r\n\r\n`,
  )
  for (let sent = 0; sent < TOTAL; sent += MEBIBYTE) wire.socket.write(chunk)
  wire.send('END')
  await until(() => (exchanges[0]?.bytesIn ?? 0) > 0, 'bytes of the body')
  const stopped = await standstill(() => exchanges[0]?.bytesIn ?? 0)
  t.ok(stopped < MOST, `${stopped / MEBIBYTE} MiB were read from the client`)
  go()
  await wire.until('HTTP/1.1 200')
  t.equal(exchanges[0]?.bytesIn, TOTAL + 3)
  wire.socket.destroy()
})

t.test('a client that reads nothing for too long is cut off, and the upstream is released', async (t) => {
  const time = holdTime(t)
  let gone = false
  let sent = 0
  const port = await serve(t, (_, response) => {
    const more = () => {
      while (response.write(chunk)) sent++
    }
    response.on('drain', more).on('close', () => {
      gone = true
    })
    more()
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wire = new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  wire.socket.pause()
  await until(() => (exchanges[0]?.response.writableLength ?? 0) > 0, 'buffered bytes of the response')
  await standstill(() => sent)
  await until(() => {
    time.pass(60_001)
    return gone
  }, 'the end of the connection to the upstream')
  t.match(exchanges[0], { aborted: true })
  wire.socket.destroy()
})

t.test('a client that leaves only the end of a response unread is cut off too', async (t) => {
  const time = holdTime(t)
  // Stops when the first bytes have to wait at the gateway: few enough that nothing else is buffered.
  const port = await serve(t, async (_, response) => {
    while ((exchanges[0]?.response.writableLength ?? 0) === 0) {
      response.write(Buffer.alloc(16 * 1024))
      await new Promise(setImmediate)
    }
    response.end()
  })
  const { port: gatewayPort, exchanges } = await front(t, port)
  const wire = new RawClient(gatewayPort).send('GET / HTTP/1.1\r\nHost: gw\r\n\r\n')
  wire.socket.pause()
  await until(() => exchanges[0]?.response.ended === true, 'the end of the response at the gateway')
  await until(() => {
    time.pass(60_001)
    return exchanges[0]?.response.destroyed === true
  }, 'the end of the response')
  t.equal(exchanges[0]?.response.writableFinished, false)
  wire.socket.destroy()
})

t.test('a client that reads a response slowly, byte by byte, keeps it until it stops', async (t) => {
  const time = holdTime(t)
  const port = await serve(t, (_, response) => response.end(chunk))
  const upstream = new Upstream(upstreamConfig(port, { bodyTimeout: 1500 }))
  t.teardown(() => upstream.destroy())
  const handle = (request: ClientRequest, response: ClientResponse) => {
    const exchange = new Exchange(request, response, 'id', 0)
    exchange.evaluation = evaluationOf(request, routeTo())
    forward(exchange, upstream, refuse)
    return exchange
  }
  const tls = acceptor([certificate(['a.example'])], {}, true)
  const listener = await openSecured(t, tls, { handle, settings: { stall: 3_600_000 } })
  const client = await RawHttp2.open(listener.port, authority.cert)
  t.teardown(() => client.socket.destroy())
  // A window of 0, which the client opens itself.
  client.frame(SETTINGS, 0, 0, [0, 4, 0, 0, 0, 0]).headers(1)
  t.equal(await client.status(1), 200)
  for (let i = 0; i < 10; i++) {
    const from = client.received.length
    client.frame(WINDOW_UPDATE, 0, 1, [0, 0, 0, 1])
    const { type } = await client.next((each) => each.stream === 1, from)
    t.equal(type, DATA)
    if (type !== DATA) break
    time.pass(1000)
  }
  t.equal(client.count(RST_STREAM), 0)
  await until(() => {
    time.pass(1500)
    return client.count(RST_STREAM) > 0
  }, 'the end of the stream')
})
