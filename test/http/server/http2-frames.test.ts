/** Rules of RFC 9113 about frames and streams: each violation has the reaction that the RFC names. */

import t from 'tap'
import {
  COMPRESSION_ERROR,
  FLOW_CONTROL_ERROR,
  FRAME_SIZE_ERROR,
  PROTOCOL_ERROR,
  REFUSED_STREAM,
  STREAM_CLOSED,
} from '../../../src/http/wire/http2/http2-errors.ts'
import {
  ACK,
  CONTINUATION,
  DATA,
  END_HEADERS,
  END_STREAM,
  FRAME_HEADER,
  GOAWAY,
  HEADERS,
  PADDED,
  PING,
  PREFACE,
  PRIORITY,
  PUSH_PROMISE,
  RST_STREAM,
  SETTINGS,
  WINDOW_UPDATE,
  WITH_PRIORITY,
  writeFrameHeader,
} from '../../../src/http/wire/http2/http2-frames.ts'
import { GET, POST, RawHttp2 } from '../../support/raw-http2.ts'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { acceptor, authority, certificate, openSecured } from './tls-support.ts'

const a = certificate(['a.example'])

interface Violation {
  readonly rule: string
  readonly send: (client: RawHttp2) => unknown
  /** `GOAWAY code` or `RST code` of stream 1. */
  readonly expect: string
}

const setting = (id: number, value: number) => {
  const payload = Buffer.alloc(6)
  payload.writeUInt16BE(id, 0)
  payload.writeUInt32BE(value, 2)
  return payload
}
const number = (value: number) => {
  const payload = Buffer.alloc(4)
  payload.writeUInt32BE(value, 0)
  return payload
}
const tooLong = () => {
  const header = Buffer.alloc(FRAME_HEADER)
  writeFrameHeader(header, 0, 16_385, DATA, 0, 1)
  return header
}
const open = (client: RawHttp2) => client.headers(1, POST, 0)

const VIOLATIONS: readonly Violation[] = [
  {
    rule: '4.2 a frame over 16,384 bytes',
    send: (c) => open(c).send(tooLong()),
    expect: `GOAWAY ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '4.3 a malformed field block',
    send: (c) => c.frame(HEADERS, END_HEADERS | END_STREAM, 1, [0xff, 0xff, 0xff, 0xff, 0xff, 0xff]),
    expect: `GOAWAY ${COMPRESSION_ERROR}`,
  },
  {
    rule: '4.3 index 0',
    send: (c) => c.frame(HEADERS, END_HEADERS | END_STREAM, 1, [0x80]),
    expect: `GOAWAY ${COMPRESSION_ERROR}`,
  },
  {
    rule: '5.1 DATA of an idle stream',
    send: (c) => c.frame(DATA, 0, 1, [0]),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '5.1 RST_STREAM of an idle stream',
    send: (c) => c.frame(RST_STREAM, 0, 1, number(8)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '5.1 WINDOW_UPDATE of an idle stream',
    send: (c) => c.frame(WINDOW_UPDATE, 0, 1, number(8)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '5.1 DATA after END_STREAM',
    send: (c) => c.headers(1).frame(DATA, 0, 1, [0]),
    expect: `RST ${STREAM_CLOSED}`,
  },
  {
    rule: '5.1 HEADERS after END_STREAM',
    send: (c) => c.headers(1).headers(1),
    expect: `RST ${STREAM_CLOSED}`,
  },
  {
    rule: '5.1.1 a stream below the newest',
    send: (c) => c.headers(5).headers(3),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '5.1.1 the first stream after another one',
    send: (c) => c.headers(3).headers(1),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '5.1.1 a stream below the newest, with others open',
    send: (c) => open(c).headers(21, POST, 0).headers(23, POST, 0).headers(19),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  { rule: '5.1.1 an even stream', send: (c) => c.headers(2), expect: `GOAWAY ${PROTOCOL_ERROR}` },
  {
    rule: '5.3.1 HEADERS that depend on their own stream',
    send: (c) =>
      c.frame(
        HEADERS,
        END_HEADERS | END_STREAM | WITH_PRIORITY,
        1,
        Buffer.concat([number(1), Buffer.from([0]), c.block(GET)]),
      ),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
  {
    rule: '5.3.1 PRIORITY that depends on its own stream',
    send: (c) => open(c).frame(PRIORITY, 0, 1, Buffer.concat([number(1), Buffer.from([0])])),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
  { rule: '6.1 DATA of stream 0', send: (c) => c.frame(DATA, 0, 0, [0]), expect: `GOAWAY ${PROTOCOL_ERROR}` },
  {
    rule: '6.1 more padding than DATA',
    send: (c) => open(c).frame(DATA, PADDED, 1, [5, 0]),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  { rule: '6.2 HEADERS of stream 0', send: (c) => c.headers(0), expect: `GOAWAY ${PROTOCOL_ERROR}` },
  {
    rule: '6.2 more padding than HEADERS',
    send: (c) => c.frame(HEADERS, PADDED | END_HEADERS, 1, [9, 0]),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.2 another frame within a field block',
    send: (c) => c.frame(HEADERS, END_STREAM, 1, c.block(GET)).frame(PING, 0, 0, Buffer.alloc(8)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.2 CONTINUATION of another stream',
    send: (c) => c.frame(HEADERS, END_STREAM, 1, c.block(GET)).frame(CONTINUATION, END_HEADERS, 3, []),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.3 PRIORITY of stream 0',
    send: (c) => c.frame(PRIORITY, 0, 0, Buffer.alloc(5)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.3 PRIORITY of another length',
    send: (c) => open(c).frame(PRIORITY, 0, 1, Buffer.alloc(4)),
    expect: `RST ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '6.4 RST_STREAM of stream 0',
    send: (c) => c.frame(RST_STREAM, 0, 0, number(8)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.4 RST_STREAM of another length',
    send: (c) => open(c).frame(RST_STREAM, 0, 1, [1, 2, 3]),
    expect: `GOAWAY ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '6.5 SETTINGS of a stream',
    send: (c) => c.frame(SETTINGS, 0, 1, []),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.5 SETTINGS of another length',
    send: (c) => c.frame(SETTINGS, 0, 0, [1]),
    expect: `GOAWAY ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '6.5 an acknowledgement with settings',
    send: (c) => c.frame(SETTINGS, ACK, 0, setting(1, 1)),
    expect: `GOAWAY ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '6.5.2 ENABLE_PUSH of 2',
    send: (c) => c.frame(SETTINGS, 0, 0, setting(2, 2)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.5.2 an INITIAL_WINDOW_SIZE over 2^31-1',
    send: (c) => c.frame(SETTINGS, 0, 0, setting(4, 2 ** 31)),
    expect: `GOAWAY ${FLOW_CONTROL_ERROR}`,
  },
  {
    rule: '6.5.2 a MAX_FRAME_SIZE below 16,384',
    send: (c) => c.frame(SETTINGS, 0, 0, setting(5, 16_383)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.5.2 a MAX_FRAME_SIZE over 2^24-1',
    send: (c) => c.frame(SETTINGS, 0, 0, setting(5, 2 ** 24)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.6 PUSH_PROMISE of a client',
    send: (c) => open(c).frame(PUSH_PROMISE, END_HEADERS, 1, number(2)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.7 PING of a stream',
    send: (c) => c.frame(PING, 0, 1, Buffer.alloc(8)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.7 PING of another length',
    send: (c) => c.frame(PING, 0, 0, Buffer.alloc(7)),
    expect: `GOAWAY ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '6.8 GOAWAY of a stream',
    send: (c) => c.frame(GOAWAY, 0, 1, Buffer.alloc(8)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.9 WINDOW_UPDATE of zero bytes of the connection',
    send: (c) => c.frame(WINDOW_UPDATE, 0, 0, number(0)),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.9 WINDOW_UPDATE of zero bytes of a stream',
    send: (c) => open(c).frame(WINDOW_UPDATE, 0, 1, number(0)),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
  {
    rule: '6.9 WINDOW_UPDATE of another length',
    send: (c) => c.frame(WINDOW_UPDATE, 0, 0, [0, 0, 1]),
    expect: `GOAWAY ${FRAME_SIZE_ERROR}`,
  },
  {
    rule: '6.9.1 a window of the connection over 2^31-1',
    send: (c) => c.frame(WINDOW_UPDATE, 0, 0, number(2 ** 31 - 1)),
    expect: `GOAWAY ${FLOW_CONTROL_ERROR}`,
  },
  {
    rule: '6.9.1 a window of a stream over 2^31-1',
    send: (c) => open(c).frame(WINDOW_UPDATE, 0, 1, number(2 ** 31 - 1)),
    expect: `RST ${FLOW_CONTROL_ERROR}`,
  },
  {
    rule: '6.9.2 a changed initial window that makes one over 2^31-1',
    send: (c) =>
      open(c)
        .frame(WINDOW_UPDATE, 0, 1, number(1000))
        .frame(SETTINGS, 0, 0, setting(4, 2 ** 31 - 1)),
    expect: `GOAWAY ${FLOW_CONTROL_ERROR}`,
  },
  {
    rule: '6.10 CONTINUATION without HEADERS',
    send: (c) => open(c).frame(CONTINUATION, END_HEADERS, 1, []),
    expect: `GOAWAY ${PROTOCOL_ERROR}`,
  },
  {
    rule: '8.1 HEADERS within a body',
    send: (c) => open(c).headers(1, [['x-late', '1']], 0),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
  {
    rule: '8.1 trailers with a pseudo-header field',
    send: (c) => open(c).headers(1, [[':path', '/']]),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
  {
    rule: '8.1.1 a body longer than its Content-Length',
    send: (c) => c.headers(1, [...POST, ['content-length', '1']], 0).frame(DATA, 0, 1, [1, 2]),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
  {
    rule: '8.1.1 a body shorter than its Content-Length',
    send: (c) => c.headers(1, [...POST, ['content-length', '2']], 0).frame(DATA, END_STREAM, 1, [1]),
    expect: `RST ${PROTOCOL_ERROR}`,
  },
]

t.test('violations', async (t) => {
  // No response: the reaction is that to the frames. The body is read.
  const handle = (request: Exchange['request'], response: Exchange['response']) => {
    if (!request.complete) request.deliver({ data() {}, end() {}, aborted() {} })
    return new Exchange(request, response, 'id', 0)
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  for (const { rule, send, expect } of VIOLATIONS) {
    const client = await RawHttp2.open(port, authority.cert)
    send(client)
    t.equal(await client.outcome(1), expect, rule)
    client.socket.destroy()
  }
})

t.test('more DATA than the windows admit', async (t) => {
  const handle = (request: Exchange['request'], response: Exchange['response']) =>
    new Exchange(request, response, 'id', 0)
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  open(client)
  const chunk = Buffer.alloc(16_384)
  // Nothing of the body is read: its window stays as it was announced.
  for (let sent = 0; sent <= 128 * 1024; sent += chunk.length) client.frame(DATA, 0, 1, chunk)
  t.equal(await client.reset(1), FLOW_CONTROL_ERROR)
})

t.test('preface and first frame', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  for (const [what, bytes] of [
    ['HTTP/1.1', Buffer.from('GET / HTTP/1.1\r\nHost: a.example\r\n\r\n')],
    ['a wrong preface', Buffer.from('PRI * HTTP/2.0\r\n\r\nXX\r\n\r\n')],
    ['no SETTINGS', Buffer.concat([PREFACE, Buffer.from('000008060000000000', 'hex'), Buffer.alloc(8)])],
    ['an acknowledgement first', Buffer.concat([PREFACE, Buffer.from('000000040100000000', 'hex')])],
  ] as const) {
    const client = await RawHttp2.open(port, authority.cert, false)
    client.send(bytes)
    t.equal(await client.goAway(), PROTOCOL_ERROR, what)
    client.socket.destroy()
  }
})

t.test('frames in pieces of every size', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  const block = client.block([...POST, ['content-length', '5']])
  const pieces = Buffer.concat([
    header(HEADERS, END_HEADERS | PADDED, 1, block.length + 4),
    Buffer.from([3]),
    block,
    Buffer.alloc(3),
    header(DATA, PADDED, 1, 6),
    Buffer.from([2, 104, 97, 108, 0, 0]),
    header(DATA, END_STREAM, 1, 2),
    Buffer.from('lo'),
  ])
  for (const byte of pieces) {
    client.socket.write(Buffer.from([byte]))
    await new Promise((resolve) => setImmediate(resolve))
  }
  t.equal(await client.status(1), 200)
  const body = await client.next((each) => each.type === DATA && each.stream === 1)
  t.equal(String(body.payload), '5 bytes')
})

t.test('streams beyond the limit are refused, and the others served', async (t) => {
  const waiting: Exchange[] = []
  const handle = (request: Exchange['request'], response: Exchange['response']) => {
    waiting.push(new Exchange(request, response, 'id', 0))
    return waiting.at(-1) as Exchange
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  for (let i = 0; i < 129; i++) client.headers(2 * i + 1)
  t.equal(await client.reset(2 * 128 + 1), REFUSED_STREAM)
  t.equal(waiting.length, 128)
})

function header(type: number, flags: number, stream: number, length: number): Buffer {
  const bytes = Buffer.alloc(FRAME_HEADER)
  writeFrameHeader(bytes, 0, length, type, flags, stream)
  return bytes
}
