/** Response trailers pass to the client (RFC 9110, section 6.5), except fields with a meaning of their own. */

import t from 'tap'
import { answering, front, get, valuesOf } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

function chunkedWith(trailers: string, head = ''): string {
  return `HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n${head}\r\n2\r\nok\r\n0\r\n${trailers}\r\n`
}

t.test('they are relayed, announced or not, repeated or not', async (t) => {
  const port = await answering(
    t,
    chunkedWith(
      'X-Sum: 1\r\nX-Sum: \xe4\r\nServer-Timing: a;dur=1\r\n',
      'Trailer: X-Sum\r\nTrailer: Server-Timing\r\n',
    ),
  )
  const { port: gatewayPort } = await front(t, port)
  const answer = await roundTrip(gatewayPort, get())
  t.same(valuesOf(answer, 'trailer'), ['X-Sum, Server-Timing'])
  t.ok(answer.endsWith('2\r\nok\r\n0\r\nX-Sum: 1\r\nX-Sum: \xe4\r\nServer-Timing: a;dur=1\r\n\r\n'))
})

t.test("framing and routing fields and the gateway's own are not", async (t) => {
  const port = await answering(
    t,
    chunkedWith(
      'Set-Cookie: a=b\r\nConnection: close\r\nX-Request-Id: evil\r\nX-Seatgate-User: evil\r\nContent-Type: a/b\r\nLocation: /\r\nRetry-After: 1\r\nDate: x\r\nAge: 1\r\nExpires: 0\r\nVary: a\r\nCache-Control: public\r\nX-Ok: 1\r\n',
    ),
  )
  const { port: gatewayPort } = await front(t, port)
  t.ok((await roundTrip(gatewayPort, get())).endsWith('0\r\nX-Ok: 1\r\n\r\n'))
})

t.test('nor those that Connection of the head names, in any spelling', async (t) => {
  const port = await answering(
    t,
    chunkedWith('X-Hop: 1\r\nx_hop: 2\r\nX-Ok: 3\r\n', 'Connection: keep-alive, x-hop\r\nTrailer: X-Ok\r\n'),
  )
  const { port: gatewayPort } = await front(t, port)
  t.ok((await roundTrip(gatewayPort, get())).endsWith('0\r\nX-Ok: 3\r\n\r\n'))
})

t.test('a response with a length has none, and announces none', async (t) => {
  const port = await answering(t, 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTrailer: X-Sum\r\n\r\nok')
  const { port: gatewayPort } = await front(t, port)
  const answer = await roundTrip(gatewayPort, get())
  t.same(valuesOf(answer, 'trailer'), [])
  t.ok(answer.endsWith('\r\n\r\nok'))
})

t.test('HTTP/1.0 gets none', async (t) => {
  const port = await answering(t, chunkedWith('X-Sum: 1\r\n', 'Trailer: X-Sum\r\n'))
  const { port: gatewayPort } = await front(t, port)
  t.ok((await roundTrip(gatewayPort, 'GET / HTTP/1.0\r\n\r\n')).endsWith('\r\n\r\nok'))
})
