/**
 * Floods of HTTP/2 frames that cost a client little and a server much. Each ends its connection with GOAWAY
 * ENHANCE_YOUR_CALM, and other connections are served.
 */

import t from 'tap'
import { ENHANCE_YOUR_CALM, INTERNAL_ERROR } from '../../src/http/wire/http2/http2-errors.ts'
import {
  CONTINUATION,
  DATA,
  END_STREAM,
  HEADERS,
  PADDED,
  PING,
  PRIORITY,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
} from '../../src/http/wire/http2/http2-frames.ts'
import { Exchange } from '../../src/http/server/exchange.ts'
import { acceptor, authority, certificate, openSecured } from '../http/server/tls-support.ts'
import { GET, POST, RawHttp2 } from '../support/raw-http2.ts'

const a = certificate(['a.example'])
/** More than any budget. */
const MANY = 20_000
const one = Buffer.from([0, 0, 0, 1])

const FLOODS: readonly (readonly [string, (client: RawHttp2, i: number) => unknown])[] = [
  [
    'CVE-2023-44487, rapid reset',
    (c, i) => c.headers(2 * i + 1).frame(RST_STREAM, 0, 2 * i + 1, [0, 0, 0, 8]),
  ],
  [
    'CVE-2025-8671, MadeYouReset: the server resets because of a window of zero bytes',
    (c, i) => c.headers(2 * i + 1).frame(WINDOW_UPDATE, 0, 2 * i + 1, [0, 0, 0, 0]),
  ],
  [
    'MadeYouReset: HEADERS after the end of the stream',
    (c, i) => c.headers(2 * i + 1).headers(2 * i + 1, [['x-late', '1']]),
  ],
  [
    'MadeYouReset: malformed trailers',
    (c, i) => c.headers(2 * i + 1, POST, 0).headers(2 * i + 1, [[':path', '/']]),
  ],
  [
    'MadeYouReset: a body longer than its Content-Length',
    (c, i) =>
      c.headers(2 * i + 1, [...POST, ['content-length', '0']], 0).frame(DATA, END_STREAM, 2 * i + 1, [1]),
  ],
  ['DATA of padding alone', (c, i) => (i === 0 ? c.headers(1, POST, 0) : c).frame(DATA, PADDED, 1, [1, 0])],
  ['CVE-2019-9512, PING', (c) => c.frame(PING, 0, 0, Buffer.alloc(8))],
  ['acknowledgements of PING', (c) => c.frame(PING, 1, 0, Buffer.alloc(8))],
  ['CVE-2019-9515, SETTINGS', (c) => c.frame(SETTINGS, 0, 0, [])],
  ['CVE-2019-9513, PRIORITY', (c) => c.frame(PRIORITY, 0, 1, [0, 0, 0, 0, 0])],
  ['CVE-2019-9518, empty DATA', (c, i) => (i === 0 ? c.headers(1, POST, 0) : c).frame(DATA, 0, 1, [])],
  ['WINDOW_UPDATE', (c) => c.frame(WINDOW_UPDATE, 0, 0, one)],
  ['unknown frames', (c) => c.frame(0x42, 0, 0, [])],
  [
    'CVE-2019-9514, frames of streams that are closed',
    (c, i) => (i === 0 ? c.headers(1) : c).frame(DATA, 0, 1, []),
  ],
]

t.test('floods end their connection', async (t) => {
  const handle = (request: Exchange['request'], response: Exchange['response']) =>
    new Exchange(request, response, 'id', 0)
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  for (const [what, send] of FLOODS) {
    const client = await RawHttp2.open(port, authority.cert)
    const ended = client.goAway()
    for (let i = 0; i < MANY && !client.ended && client.received.length < MANY; i++) {
      send(client, i)
      if (i % 500 === 0) await new Promise((resolve) => setImmediate(resolve))
    }
    t.equal(await ended, ENHANCE_YOUR_CALM, what)
    client.socket.destroy()
  }
})

t.test('CVE-2024-27983, CVE-2019-9516: CONTINUATION without an end', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  for (const [what, payload] of [
    ['empty', Buffer.alloc(0)],
    ['of one byte', Buffer.from([0x82])],
    ['full', Buffer.alloc(16_384, 0x82)],
  ] as const) {
    const client = await RawHttp2.open(port, authority.cert)
    client.frame(HEADERS, 0, 1, client.block(GET))
    for (let i = 0; i < 200; i++) client.frame(CONTINUATION, 0, 1, payload)
    t.equal(await client.goAway(), ENHANCE_YOUR_CALM, what)
    client.socket.destroy()
  }
})

t.test('a client that reads no answer to its PINGs is cut off', async (t) => {
  const { port, listener } = await openSecured(t, acceptor([a], {}, true))
  const client = await RawHttp2.open(port, authority.cert)
  await client.settled()
  client.socket.pause()
  const isOpen = ({ idle, active, opening }: typeof listener.connections) => idle + active + opening > 0
  for (let i = 0; i < MANY && isOpen(listener.connections); i++) {
    client.frame(PING, 0, 0, Buffer.alloc(8))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.notOk(isOpen(listener.connections))
  client.socket.resume()
  t.ok([ENHANCE_YOUR_CALM, INTERNAL_ERROR].includes(await client.goAway()))
  client.socket.destroy()
})

t.test(
  'CVE-2016-6581, HPACK bomb: references to one large entry stay within the limit of a list',
  async (t) => {
    const { port } = await openSecured(t, acceptor([a], {}, true))
    const client = await RawHttp2.open(port, authority.cert)
    t.teardown(() => client.socket.destroy())
    // A literal with indexing of 4,000 bytes, and then 15,000 references of one byte to it: 60 MB.
    const value = Buffer.alloc(3_900, 'a')
    const literal = Buffer.concat([Buffer.from([0x40, 1, 0x78, 0x7f, 0xbd, 0x1d]), value])
    client.frame(HEADERS, 0x5, 1, Buffer.concat([client.block(GET), literal, Buffer.alloc(12_000, 0xbe)]))
    t.equal(await client.status(1), 431)
    client.headers(3)
    await client.next((each) => each.stream === 3 && each.type === HEADERS)
  },
)

t.test('honest clients: many requests, cancellations and window updates within the budgets', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  for (let i = 0; i < 500; i++) {
    client
      .headers(2 * i + 1)
      .frame(WINDOW_UPDATE, 0, 0, one)
      .frame(WINDOW_UPDATE, 0, 0, one)
    if (i % 2 === 0) client.frame(RST_STREAM, 0, 2 * i + 1, [0, 0, 0, 8])
    if (i % 20 === 0) await client.settled()
  }
  client.headers(1001)
  t.equal(await client.status(1001), 200)
})
