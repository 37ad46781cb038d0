/**
 * Hostile upstreams of HTTP/2: floods, bombs and frames of other streams end the connection, and the requests on it. The
 * next request gets a connection of its own.
 */

import t, { type Test } from 'tap'
import { codeOf, get } from '../proxy/support.ts'
import {
  ACK,
  answer,
  block,
  CONTINUATION,
  data,
  END_HEADERS,
  END_STREAM,
  frame,
  GOAWAY,
  headers,
  HEADERS,
  number,
  PADDED,
  PING,
  PUSH_PROMISE,
  RST_STREAM,
  serveFrames,
  SETTINGS,
  WINDOW_UPDATE,
} from '../proxy/http2/raw.ts'
import type { RawHttp2 } from '../support/raw-http2.ts'
import { front2 } from '../proxy/http2/support.ts'
import { roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const OK = [':status', '200']
type Attack = (stream: number) => readonly Buffer[]

function times(count: number, each: Buffer): Buffer[] {
  return [Buffer.concat(Array.from({ length: count }, () => each))]
}

/** The first request gets the frames, each further one a valid response. */
async function ended(t: Test, frames: Attack): Promise<readonly RawHttp2[]> {
  let requests = 0
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(...(++requests === 1 ? frames(stream) : [answer(stream)]))
  })
  const { port: gatewayPort, exchanges } = await front2(t, port)
  const first = await roundTrip(gatewayPort, get())
  t.match(first, /^HTTP\/1\.1 502 /)
  t.equal(codeOf(first), 'upstream_protocol_error')
  t.ok(exchanges[0]?.cause instanceof Error)
  t.match(await roundTrip(gatewayPort, get()), /good/)
  t.equal(connections.length, 2, 'on another connection')
  await until(() => connections[0]?.count(GOAWAY) === 1, 'a GOAWAY that tells the upstream why')
  return connections
}

const attacks: Readonly<Record<string, Attack>> = {
  'a flood of PING': () => times(10_000, frame(PING, 0, 0, Buffer.alloc(8))),
  'a flood of SETTINGS': () => times(10_000, frame(SETTINGS, 0, 0)),
  'a flood of empty DATA': (stream) => [headers(stream, OK), ...times(10_000, data(stream, ''))],
  'a flood of PRIORITY': (stream) => times(10_000, frame(2, 0, stream, Buffer.from([0, 0, 0, 0, 1]))),
  'a flood of unknown frames': () => times(10_000, frame(0x42, 0, 0)),
  'a flood of CONTINUATION': (stream) => [
    frame(HEADERS, 0, stream, block(OK)),
    ...times(10_000, frame(CONTINUATION, 0, stream, block(['x-a', '1']))),
  ],
  'a flood of empty CONTINUATION': (stream) => [
    frame(HEADERS, 0, stream, block(OK)),
    ...times(10_000, frame(CONTINUATION, 0, stream)),
  ],
  'a window beyond 2^31 - 1': () => [frame(WINDOW_UPDATE, 0, 0, number(0x7fffffff))],
  'a window update of 0': () => [frame(WINDOW_UPDATE, 0, 0, number(0))],
  'an initial window beyond 2^31 - 1': () => [
    frame(SETTINGS, 0, 0, Buffer.from([0, 4, 0xff, 0xff, 0xff, 0xff])),
  ],
  'settings that permit pushes': () => [frame(SETTINGS, 0, 0, Buffer.from([0, 2, 0, 0, 0, 1]))],
  'a push': (stream) => [
    frame(PUSH_PROMISE, END_HEADERS, stream, Buffer.concat([number(2), block([':path', '/evil'])])),
  ],
  'a response on a stream that was not opened': () => [answer(3, 'evil')],
  'a response on a stream of the server': () => [answer(2, 'evil')],
  'HEADERS of stream 0': () => [headers(0, OK)],
  'DATA of stream 0': () => [data(0, 'evil')],
  'DATA of a stream that was not opened': () => [data(99, 'evil')],
  'RST_STREAM of a stream that was not opened': () => [frame(RST_STREAM, 0, 99, number(0))],
  'CONTINUATION alone': (stream) => [frame(CONTINUATION, END_HEADERS, stream, block(OK))],
  'a frame inside a field block': (stream) => [
    frame(HEADERS, 0, stream, block(OK)),
    frame(PING, 0, 0, Buffer.alloc(8)),
  ],
  'a frame beyond the maximum size': (stream) => [headers(stream, OK), data(stream, Buffer.alloc(16_385))],
  'padding longer than the frame': (stream) => [
    frame(HEADERS, END_HEADERS | PADDED, stream, Buffer.from([9, 0])),
  ],
  'a field block that is no HPACK': (stream) => [
    frame(HEADERS, END_HEADERS, stream, Buffer.from([0xff, 0xff, 0xff])),
  ],
  'an index beyond the tables': (stream) => [frame(HEADERS, END_HEADERS, stream, Buffer.from([0xfe]))],
  'a table larger than announced': (stream) => [
    frame(HEADERS, END_HEADERS, stream, Buffer.from([0x3f, 0xe1, 0xff, 0x03])),
  ],
  'an acknowledgement with settings': () => [frame(SETTINGS, ACK, 0, Buffer.from([0, 3, 0, 0, 0, 1]))],
  'the beginning of another protocol': () => [
    Buffer.from('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil'),
  ],
}
for (const [name, frames] of Object.entries(attacks)) t.test(name, async (t) => void (await ended(t, frames)))

t.test('an HPACK bomb: a small block with a large list is over the limit', async (t) => {
  // One field of 4 KB in the dynamic table, then thousands of references of one byte.
  const large = Buffer.concat([
    Buffer.from([0x40, 1, 0x78, 0x7f, 0x80 + ((3900 - 127) % 128), Math.floor((3900 - 127) / 128)]),
    Buffer.alloc(3900, 0x61),
  ])
  const bomb = Buffer.concat([block(OK), large, Buffer.alloc(10_000, 0xbe)])
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(
      ...(stream === 1 ? [frame(HEADERS, END_HEADERS | END_STREAM, stream, bomb)] : [answer(stream)]),
    )
  })
  const { port: gatewayPort, exchanges } = await front2(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_protocol_error')
  t.match(exchanges[0]?.cause, { message: 'the head is too long' })
  t.match(await roundTrip(gatewayPort, get()), /good/, 'the tables of both sides are still the same')
  t.equal(connections.length, 1)
})

t.test('frames after END_STREAM do not become another response', async (t) => {
  const { port } = await serveFrames(t, (connection, stream) => {
    connection.send(answer(stream), data(stream, 'evil', END_STREAM), headers(stream, [...OK, 'x-evil', '1']))
  })
  const { port: gatewayPort } = await front2(t, port)
  for (let i = 0; i < 20; i++) {
    const received = await roundTrip(gatewayPort, get())
    t.match(received, /good/)
    t.notMatch(received, 'evil')
  }
})

t.test('a response to another stream of the connection is that of its own request', async (t) => {
  const paths = new Map<number, string>()
  const { port } = await serveFrames(t, (connection, stream, { payload }) => {
    paths.set(stream, /\/(one|two)/.exec(payload.toString('latin1'))?.[1] ?? '')
    // In the other order.
    if (paths.size === 2)
      for (const each of [...paths.keys()].reverse()) connection.send(answer(each, `for ${each}`))
  })
  const { port: gatewayPort } = await front2(t, port)
  const answers = await Promise.all([roundTrip(gatewayPort, get()), roundTrip(gatewayPort, get())])
  t.match(answers[0], /for [13]/)
  t.not(/for (\d)/.exec(answers[0])?.[1], /for (\d)/.exec(answers[1])?.[1])
})
