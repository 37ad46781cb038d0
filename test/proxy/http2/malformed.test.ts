/** Malformed responses of HTTP/2 upstreams: refused, without harm to other streams of the connection. */

import t, { type Test } from 'tap'
import { codeOf, get } from '../support.ts'
import {
  answer,
  CONTINUATION,
  data,
  END_HEADERS,
  END_STREAM,
  frame,
  headers,
  HEADERS,
  block,
  number,
  RST_STREAM,
  serveFrames,
} from './raw.ts'
import { front2 } from './support.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'

const OK = [':status', '200']

type Hostile = (stream: number) => readonly Buffer[]

/** The first request gets the frames, each further one a valid response. */
async function refused(t: Test, frames: Hostile, method = 'GET'): Promise<void> {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(...(stream === 1 ? frames(stream) : [answer(stream)]))
  })
  const { port: gatewayPort, exchanges } = await front2(t, port)
  const first = await roundTrip(gatewayPort, get().replace('GET', method))
  t.match(first, /^(HTTP\/1\.1 103 .*\r\n\r\n)?HTTP\/1\.1 502 /)
  if (method !== 'HEAD') t.equal(codeOf(first), 'upstream_protocol_error')
  t.match(exchanges[0]?.cause, { code: 'UPSTREAM_PROTOCOL' })
  t.match(await roundTrip(gatewayPort, get()), /good/)
  t.equal(connections.length, 1, 'on the same connection')
  const [connection] = connections
  t.ok(
    connection?.received.some(({ type, stream }) => type === RST_STREAM && stream === 1),
    'the stream is reset',
  )
}

const heads: Readonly<Record<string, readonly string[]>> = {
  'no :status': ['x-a', '1'],
  'an empty list': [],
  'a :status that is no number': [':status', 'abc'],
  'a :status of two digits': [':status', '20'],
  'a :status of four digits': [':status', '2000'],
  'a :status with a leading 0': [':status', '020'],
  'a :status with a space': [':status', '200 '],
  'status 101': [':status', '101'],
  'two of :status': [':status', '200', ':status', '200'],
  ':status behind a field': ['x-a', '1', ':status', '200'],
  'a pseudo-header of requests': [...OK, ':path', '/'],
  'an unknown pseudo-header': [...OK, ':x', '1'],
  'an upper-case name': [...OK, 'X-A', '1'],
  'an empty name': [...OK, '', '1'],
  'a name with a space': [...OK, 'x a', '1'],
  'a name with a colon': [...OK, 'x:a', '1'],
  'a name with CR LF': [...OK, 'x\r\na', '1'],
  'a name beyond ASCII': [...OK, 'x\xe4', '1'],
  'a value with CR LF': [...OK, 'x-a', '1\r\nx-evil: 1'],
  'a value with LF': [...OK, 'x-a', '1\nx-evil: 1'],
  'a value with NUL': [...OK, 'x-a', '1\0'],
  'a value with a leading space': [...OK, 'x-a', ' 1'],
  'a value with a trailing tab': [...OK, 'x-a', '1\t'],
  connection: [...OK, 'connection', 'close'],
  'keep-alive': [...OK, 'keep-alive', 'timeout=1'],
  'proxy-connection': [...OK, 'proxy-connection', 'close'],
  'transfer-encoding': [...OK, 'transfer-encoding', 'chunked'],
  upgrade: [...OK, 'upgrade', 'h2c'],
  'two of content-length': [...OK, 'content-length', '4', 'content-length', '4'],
  'a content-length that is no number': [...OK, 'content-length', '+4'],
  'a content-length that is a list': [...OK, 'content-length', '4, 4'],
  'a content-length beyond numbers': [...OK, 'content-length', '99999999999999999999'],
}

for (const [name, fields] of Object.entries(heads))
  t.test(`a head with ${name}`, async (t) =>
    refused(t, (stream) => [headers(stream, fields), data(stream, 'evil', END_STREAM)]),
  )

const messages: Readonly<Record<string, Hostile>> = {
  'an interim response that ends the stream': (stream) => [headers(stream, [':status', '103'], END_STREAM)],
  'a malformed interim response': (stream) => [headers(stream, [':status', '103', 'X', '1']), answer(stream)],
  'DATA before the head': (stream) => [data(stream, 'evil'), answer(stream)],
  'DATA between an interim response and the head': (stream) => [
    headers(stream, [':status', '103']),
    data(stream, 'evil', END_STREAM),
  ],
  'a head that ends the stream short of its content-length': (stream) => [
    headers(stream, [...OK, 'content-length', '4'], END_STREAM),
  ],
}
for (const [name, frames] of Object.entries(messages)) t.test(name, async (t) => refused(t, frames))

t.test('DATA in response to HEAD', async (t) => {
  const { port } = await serveFrames(t, (connection, stream) => connection.send(answer(stream, 'evil')))
  const { port: gatewayPort, exchanges } = await front2(t, port)
  const head = await roundTrip(gatewayPort, get().replace('GET', 'HEAD'))
  t.notMatch(head, 'evil')
  t.match(exchanges[0]?.cause, { code: 'UPSTREAM_PROTOCOL' })
})

/** Faults behind a head that the client already has, perhaps: the response does not look complete. */
const cut: Readonly<Record<string, Hostile>> = {
  'a body longer than its content-length': (stream) => [data(stream, 'abcde', END_STREAM)],
  'a body shorter than its content-length': (stream) => [data(stream, 'abc', END_STREAM)],
  'a second head': (stream) => [headers(stream, OK), data(stream, 'abcd', END_STREAM)],
  'trailers that do not end the stream': (stream) => [data(stream, 'abcd'), headers(stream, ['x-a', '1'])],
  'trailers with a pseudo-header': (stream) => [data(stream, 'abcd'), headers(stream, OK, END_STREAM)],
  'trailers with content-length': (stream) => [
    data(stream, 'abcd'),
    headers(stream, ['content-length', '4'], END_STREAM),
  ],
  'trailers with an upper-case name': (stream) => [
    data(stream, 'abcd'),
    headers(stream, ['X-A', '1'], END_STREAM),
  ],
  'trailers with transfer-encoding': (stream) => [
    data(stream, 'abcd'),
    headers(stream, ['transfer-encoding', 'chunked'], END_STREAM),
  ],
  'trailers before a body of some length': (stream) => [headers(stream, ['x-a', '1'], END_STREAM)],
  'RST_STREAM without an error': (stream) => [frame(RST_STREAM, 0, stream, number(0))],
  RST_STREAM: (stream) => [data(stream, 'ab'), frame(RST_STREAM, 0, stream, number(2))],
}
for (const [name, frames] of Object.entries(cut))
  t.test(`${name}, behind a head`, async (t) => {
    const { port, connections } = await serveFrames(t, (connection, stream) => {
      if (stream > 1) return void connection.send(answer(stream))
      connection.send(headers(stream, [...OK, 'content-length', '4']))
      proceed = () => connection.send(...frames(stream))
    })
    let proceed = () => {}
    const { port: gatewayPort, exchanges } = await front2(t, port)
    const wire = new RawClient(gatewayPort).send(get())
    await wire.until('\r\n\r\n')
    proceed()
    const [, body = ''] = (await wire.ended).split('\r\n\r\n')
    t.ok(exchanges[0]?.refusal !== null, 'the log has it')
    if (name.startsWith('a body')) t.ok(body.length < 4, 'the body is short of its length')
    t.match(await roundTrip(gatewayPort, get()), /good/)
    t.equal(connections.length, 1)
  })

t.test('fields over the limit', async (t) => {
  const many = Array.from({ length: 2100 }, (_, i) => [`x-${i}`, '1']).flat()
  await refused(t, (stream) => {
    const whole = block([...OK, ...many])
    return [
      frame(HEADERS, END_STREAM, stream, whole.subarray(0, 16_000)),
      frame(CONTINUATION, END_HEADERS, stream, whole.subarray(16_000)),
    ]
  })
})
