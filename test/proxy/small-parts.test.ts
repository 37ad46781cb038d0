/** A client sends a body in the smallest parts while no reader takes it: memory is in proportion to the bytes, and counted. */

import { once } from 'node:events'
import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { Exchange } from '../../src/http/server/exchange.ts'
import { DATA, frame, PREFACE, SETTINGS } from '../../src/http/wire/http2/http2-frames.ts'
import { RequestBody } from '../../src/proxy/request-body.ts'
import { openListener } from '../support/listener.ts'
import { RawClient } from '../support/raw-client.ts'
import { POST, RawHttp2 } from '../support/raw-http2.ts'
import { until } from '../support/until.ts'

/** Bytes of each object that waits, on average, at least. */
const PART = 1000

/** A listener whose first request gets a body without a reader. */
async function open(t: Test) {
  const opened = Promise.withResolvers<{ body: RequestBody; exchange: Exchange }>()
  const listener = await openListener(
    (request, response) => {
      const exchange = new Exchange(request, response, 'id', 0)
      const body = new RequestBody(exchange, Infinity, 600_000, { bodyRefused() {} })
      body.read(0)
      opened.resolve({ body, exchange })
      return exchange
    },
    {},
    { settings: { priorKnowledge: true } },
  )
  t.teardown(() => listener.close(0))
  return { listener, opened: opened.promise }
}

/** @param sent the whole body, whose bytes have arrived */
async function checkParts(
  t: Test,
  { listener, opened }: Awaited<ReturnType<typeof open>>,
  sent: string,
  finish: () => void,
): Promise<void> {
  const { body, exchange } = await opened
  await until(
    () => exchange.bytesIn === sent.length,
    () => `${exchange.bytesIn} bytes have arrived`,
  )
  t.ok(listener.memory >= sent.length, `${listener.memory} bytes are counted`)
  t.ok(listener.memory < sent.length + 2 * PART, `${listener.memory} bytes are counted`)
  const parts: Buffer[] = []
  body.on('data', (part: Buffer) => parts.push(part))
  finish()
  await once(body, 'end')
  t.equal(Buffer.concat(parts).toString('latin1'), sent, 'every byte, in order')
  t.ok(parts.length < sent.length / PART + 3, `${parts.length} objects for ${sent.length} bytes`)
  t.equal(listener.memory, 0, 'none waits')
}

/** Each byte differs from its neighbours. */
const bytes = (count: number) => Array.from({ length: count }, (_, i) => String.fromCharCode(97 + (i % 26)))

t.test('HTTP/2, in DATA frames of one byte', async (t) => {
  const opening = await open(t)
  const socket = connect(opening.listener.address.port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const wire = new RawHttp2(socket).send(PREFACE, frame(SETTINGS, 0, 0, Buffer.alloc(0)))
  const sent = bytes(60_000)
  wire.headers(1, POST, 0).send(...sent.map((byte) => frame(DATA, 0, 1, Buffer.from(byte))))
  await checkParts(t, opening, sent.join(''), () => wire.frame(DATA, 1, 1))
})

t.test('HTTP/1.1, in segments of a chunk of one byte', async (t) => {
  const opening = await open(t)
  const wire = new RawClient(opening.listener.address.port)
  t.teardown(() => wire.close())
  wire.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const sent = bytes(6000)
  await wire.sendEach(sent.map((byte) => `1\r\n${byte}\r\n`))
  await checkParts(t, opening, sent.join(''), () => wire.send('0\r\n\r\n'))
})

t.test('HTTP/1.1, in segments of sizes on both sides of a part', async (t) => {
  const opening = await open(t)
  const wire = new RawClient(opening.listener.address.port)
  t.teardown(() => wire.close())
  const parts = [1, 1023, 2, 1500, 700, 700, 1, 1024, 3].map((length, i) => String(i).repeat(length))
  wire.send(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${parts.join('').length + 1}\r\n\r\n`)
  await wire.sendEach(parts)
  const { body, exchange } = await opening.opened
  await until(
    () => exchange.bytesIn === parts.join('').length,
    () => `${exchange.bytesIn} bytes have arrived`,
  )
  let received = ''
  body.on('data', (part: Buffer) => (received += part.toString('latin1')))
  wire.send('z')
  await once(body, 'end')
  t.equal(received, `${parts.join('')}z`, 'every byte, in order')
  t.equal(opening.listener.memory, 0)
})

t.test('a reader that stops and goes on gets every byte', async (t) => {
  const opening = await open(t)
  const wire = new RawClient(opening.listener.address.port)
  t.teardown(() => wire.close())
  wire.send('POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n')
  const { body } = await opening.opened
  let received = ''
  body.on('data', (part: Buffer) => {
    received += part.toString('latin1')
    body.pause()
    setImmediate(() => body.resume())
  })
  const sent = bytes(3000)
  await wire.sendEach(sent.map((byte) => `1\r\n${byte}\r\n`))
  wire.send('0\r\n\r\n')
  await once(body, 'end')
  t.equal(received, sent.join(''))
  t.equal(opening.listener.memory, 0)
})
