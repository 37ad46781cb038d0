/** The response fields for the client, without those for the upstream connection. */

import t from 'tap'
import { answering, fieldsOf, front, get, serveRaw, valuesOf } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

async function answered(t: Parameters<typeof answering>[0], head: string[], body = ''): Promise<string> {
  const port = await answering(t, `${head.join('\r\n')}\r\n\r\n${body}`)
  const { port: gatewayPort } = await front(t, port)
  return roundTrip(gatewayPort, get())
}

t.test('order, repetition, spelling and bytes are kept', async (t) => {
  const answer = await answered(t, [
    'HTTP/1.1 200 OK',
    'Date: Thu, 01 Jan 1970 00:00:00 GMT',
    'set-cookie: a=1; Path=/',
    'X-One: \xe4\xff',
    'Set-Cookie: b=2, c',
    'x_one: 2',
    'X-One:',
    'Server: up',
    'Content-Length: 0',
  ])
  t.match(
    answer,
    'HTTP/1.1 200 OK\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\nset-cookie: a=1; Path=/\r\nX-One: \xe4\xff\r\nSet-Cookie: b=2, c\r\nx_one: 2\r\nX-One: \r\nServer: up\r\nContent-Length: 0\r\nx-request-id: id-1\r\n',
  )
})

t.test('hop-by-hop headers, and those that Connection names, are removed', async (t) => {
  const answer = await answered(t, [
    'HTTP/1.1 200 OK',
    'Connection: keep-alive, X-Hop, content-length',
    'X-Hop: 1',
    'Keep-Alive: timeout=99',
    'Proxy-Authenticate: Basic',
    'Proxy-Connection: keep-alive',
    'Upgrade: h2c',
    'Connection: x-two',
    'X-Two: 2',
    'X-End: 1',
    'Content-Length: 0',
  ])
  const names = fieldsOf(answer).map(([name]) => name)
  t.same(names, ['x-end', 'content-length', 'x-request-id', 'date', 'connection'])
})

t.test('an upstream cannot set the fields of the gateway', async (t) => {
  const answer = await answered(t, [
    'HTTP/1.1 200 OK',
    'X-Seatgate-Tenant: evil',
    'x_seatgate_user: evil',
    'X-Request-Id: evil',
    'Content-Length: 0',
  ])
  t.notMatch(answer, 'evil')
  t.same(valuesOf(answer, 'x-request-id'), ['id-1'])
})

t.test('a reason phrase that is not plain ASCII is replaced', async (t) => {
  for (const phrase of ['Gr\xfc\xdfe', 'a\x01b', '']) {
    const answer = await answered(t, [`HTTP/1.1 404 ${phrase}`, 'Content-Length: 0'])
    t.match(answer, /^HTTP\/1\.1 404 Not Found\r\n/, JSON.stringify(phrase))
  }
})

t.test('an unknown status passes', async (t) => {
  t.match(await answered(t, ['HTTP/1.1 799 Odd', 'Content-Length: 0']), /^HTTP\/1\.1 799 Odd\r\n/)
})

t.test('an HTTP/1.0 response that ends with the connection becomes chunked', async (t) => {
  const port = await serveRaw(t, (socket) =>
    socket.on('data', () => socket.end('HTTP/1.0 200 OK\r\n\r\nto the end')),
  )
  const { port: gatewayPort } = await front(t, port)
  const answer = await roundTrip(gatewayPort, get())
  t.same(valuesOf(answer, 'transfer-encoding'), ['chunked'])
  t.ok(answer.endsWith('a\r\nto the end\r\n0\r\n\r\n'))
})
