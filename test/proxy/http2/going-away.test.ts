/** GOAWAY and REFUSED_STREAM (RFC 9113, sections 6.8 and 8.7): what was not processed is sent again, and nothing else. */

import { once } from 'node:events'
import t from 'tap'
import { codeOf, get } from '../support.ts'
import { answer, data, END_STREAM, frame, goAway, headers, number, RST_STREAM, serveFrames } from './raw.ts'
import { front2, serve2 } from './support.ts'
import { RawClient, roundTrip } from '../../support/raw-client.ts'

const REFUSED_STREAM = 7
const refuse = (stream: number) => frame(RST_STREAM, 0, stream, number(REFUSED_STREAM))
const post = (body: string, ...lines: string[]) =>
  [
    'POST /a HTTP/1.1',
    'Host: gw.example',
    `Content-Length: ${body.length}`,
    ...lines,
    'Connection: close',
    '',
    body,
  ].join('\r\n')

t.test('a refused stream is sent again', async (t) => {
  let requests = 0
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    connection.send(++requests === 1 ? refuse(stream) : answer(stream))
  })
  const { port: gatewayPort } = await front2(t, port)
  t.match(await roundTrip(gatewayPort, get()), /good/)
  t.equal(requests, 2)
  t.equal(connections.length, 1)
})

t.test('also a POST without a body, as the target has not processed it', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection, stream) => {
    connection.send(++requests === 1 ? refuse(stream) : answer(stream))
  })
  const { port: gatewayPort } = await front2(t, port)
  t.match(await roundTrip(gatewayPort, post('')), /good/)
  t.equal(requests, 2)
})

t.test('a body of which a part was taken is not: 503, and the client may repeat it', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection, stream) => {
    requests++
    connection.send(refuse(stream))
  })
  const { port: gatewayPort } = await front2(t, port)
  const first = await roundTrip(gatewayPort, post('abc'))
  t.match(first, /^HTTP\/1\.1 503 /)
  t.equal(codeOf(first), 'unavailable')
  t.equal(requests, 1)
})

t.test('another reset says nothing about the request: it is not sent again', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection, stream) => {
    requests++
    connection.send(frame(RST_STREAM, 0, stream, number(8)))
  })
  const { port: gatewayPort } = await front2(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_protocol_error')
  t.equal(requests, 1)
})

t.test('a refusal behind a response is none', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection, stream) => {
    requests++
    connection.send(headers(stream, [':status', '200']), data(stream, 'a'), refuse(stream))
  })
  const { port: gatewayPort } = await front2(t, port)
  const wire = await roundTrip(gatewayPort, get())
  t.notMatch(wire, /\r\n0\r\n\r\n$/)
  t.equal(requests, 1)
})

t.test('a target that refuses every stream is asked a few times', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection, stream) => {
    requests++
    connection.send(refuse(stream))
  })
  const { port: gatewayPort, upstream } = await front2(t, port)
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 503 /)
  t.equal(requests, 3)
  t.match(upstream.targets(), [{ state: 'in' }], 'it is not ejected: it is there')
})

t.test('streams above the last of a GOAWAY are sent again elsewhere, the others end', async (t) => {
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (connections.length > 1) return void connection.send(answer(stream, 'second'))
    if (stream === 3) connection.send(goAway(1), answer(1, 'first'))
  })
  const { port: gatewayPort } = await front2(t, port)
  const first = new RawClient(gatewayPort).send(get())
  while (connections[0]?.count(1) !== 1) await new Promise(setImmediate)
  const second = new RawClient(gatewayPort).send(get())
  t.match(await first.ended, /first/)
  t.match(await second.ended, /second/)
  t.equal(connections.length, 2)
})

t.test('a graceful GOAWAY: open streams end, new requests take another connection', async (t) => {
  const held: (() => void)[] = []
  const { port, sessions } = await serve2(t, (stream, sent) => {
    const end = () => {
      stream.respond({})
      stream.end(String(sessions.length))
    }
    if (sent[':path'] === '/hold') held.push(end)
    else end()
  })
  const { port: gatewayPort } = await front2(t, port)
  const long = new RawClient(gatewayPort).send('GET /hold HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
  while (held.length === 0) await new Promise(setImmediate)
  const closed = once(sessions[0] ?? t, 'close')
  sessions[0]?.close()
  // The answer to a PING that is sent now comes behind the GOAWAY.
  await roundTrip(gatewayPort, get())
  await roundTrip(gatewayPort, get())
  held[0]?.()
  t.match(await long.ended, /^HTTP\/1\.1 200 /)
  await closed
  t.equal(sessions.length, 2)
})

t.test('GOAWAY games: one on every connection does not make connections without end', async (t) => {
  let requests = 0
  const { port, connections } = await serveFrames(t, (connection) => {
    requests++
    connection.send(goAway(0))
  })
  const { port: gatewayPort } = await front2(t, port)
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 503 /)
  t.equal(requests, 3)
  t.equal(connections.length, 3)
})

t.test('GOAWAY before any request', async (t) => {
  const { port, connections } = await serveFrames(t, () => {}, Buffer.concat([frame(4, 0, 0), goAway(0)]))
  const { port: gatewayPort } = await front2(t, port)
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 50[23] /)
  t.ok(connections.length <= 4, `${connections.length} connections`)
})

t.test('GOAWAY in place of SETTINGS', async (t) => {
  const { port } = await serveFrames(t, () => {}, goAway(0))
  const { port: gatewayPort } = await front2(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_protocol_error')
})

t.test('a GOAWAY whose last stream is lost with the connection: not sent again', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection, stream) => {
    requests++
    connection.send(goAway(stream))
    connection.socket.end()
  })
  const { port: gatewayPort } = await front2(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, post(''))), 'upstream_protocol_error')
  t.equal(requests, 1)
})

t.test('an idle connection that is closed just as it is reused is no fault', async (t) => {
  let requests = 0
  const { port, connections } = await serveFrames(t, (connection, stream) => {
    if (++requests === 2) connection.socket.destroy()
    else connection.send(answer(stream))
  })
  const { port: gatewayPort, upstream } = await front2(t, port)
  t.match(await roundTrip(gatewayPort, get()), /good/)
  t.match(await roundTrip(gatewayPort, get()), /good/)
  t.equal(requests, 3)
  t.equal(connections.length, 2)
  t.match(upstream.targets(), [{ state: 'in' }])
})

t.test('a new connection that is closed with the first request is one', async (t) => {
  let requests = 0
  const { port } = await serveFrames(t, (connection) => {
    requests++
    connection.socket.destroy()
  })
  const { port: gatewayPort } = await front2(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_protocol_error')
  t.equal(requests, 1)
})

t.test('an end of stream without an answer', async (t) => {
  const { port } = await serveFrames(t, (connection, stream) => connection.send(data(stream, '', END_STREAM)))
  const { port: gatewayPort } = await front2(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_protocol_error')
})
