/** Slow clients and upstreams cause backpressure, not buffering. */

import { connect } from 'node:net'
import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { front, serve, serveRaw, standstill } from './support.ts'
import { RawClient } from '../support/raw-client.ts'
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
  time.pass(60_001)
  await until(() => gone, 'the end of the connection to the upstream')
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
  time.pass(60_001)
  await until(() => exchanges[0]?.response.destroyed === true, 'the end of the response')
  t.equal(exchanges[0]?.response.writableFinished, false)
  wire.socket.destroy()
})
