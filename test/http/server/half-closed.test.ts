/** A client that ends its side after its request gets the response; one that has left cancels it. */

import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import { Exchange } from '../../../src/http/server/exchange.ts'
import { ResponseFields } from '../../../src/http/wire/response-fields.ts'
import { holdTime, untilStepped } from '../../support/held-time.ts'
import { openListener } from '../../support/listener.ts'
import { until } from '../../support/until.ts'
import { acceptor, answer, certificate, openSecured, secure } from './tls-support.ts'

const REQUEST = 'GET /a HTTP/1.1\r\nHost: a\r\n\r\n'

/** Exchanges that wait for the test, and a client that has ended its side. */
async function held(t: Test, request = REQUEST) {
  const exchanges: Exchange[] = []
  const listener = await openListener((request, response) => {
    const exchange = new Exchange(request, response, 'id', 0)
    exchanges.push(exchange)
    return exchange
  })
  t.teardown(() => listener.close(0))
  const client = connect({ port: listener.address.port, host: '127.0.0.1', allowHalfOpen: true })
  client.on('error', () => {})
  client.end(request)
  await until(() => exchanges.length === 1, 'the request')
  const [exchange] = exchanges
  if (exchange === undefined) throw new Error('no exchange')
  return { client, exchange, exchanges, listener }
}

async function textOf(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', (chunk) => (text += chunk.toString('latin1')))
  await once(socket, 'close')
  return text
}

function respond({ response, request }: Exchange): void {
  response.writeHead(200, ResponseFields.of(['Content-Length', String(request.url.length)]))
  response.end(request.url)
}

t.test('a fast response is the only one', async (t) => {
  holdTime(t)
  const { client, exchange } = await held(t)
  const text = textOf(client)
  respond(exchange)
  // It may precede the client's end, and then says that the connection stays.
  t.match(await text, /^HTTP\/1\.1 200 OK\r\n(?:.+\r\n)+\r\n\/a$/)
})

/** The end of the client has come. */
function endNoticed({ request }: Exchange): Promise<void> {
  return until(() => request.socket.readableEnded, 'the FIN of the client')
}

t.test('a slow response comes after 100 Continue', async (t) => {
  const time = holdTime(t)
  const { client, exchange } = await held(t)
  const text = textOf(client)
  await untilStepped(time, () => client.bytesRead > 0)
  respond(exchange)
  t.match(await text, /^(?:HTTP\/1\.1 100 Continue\r\n\r\n)+HTTP\/1\.1 200 OK\r\n[^]*\/a$/)
})

t.test('HTTP/1.0 has no 100 Continue', async (t) => {
  const time = holdTime(t)
  const { client, exchange } = await held(t, 'GET /a HTTP/1.0\r\nHost: a\r\n\r\n')
  const text = textOf(client)
  await endNoticed(exchange)
  time.pass(10_000)
  respond(exchange)
  t.match(await text, /^HTTP\/1\.1 200 OK\r\n/)
})

t.test('each pipelined request gets its response', async (t) => {
  const { client, exchanges } = await held(
    t,
    REQUEST + REQUEST.replace('/a', '/b') + REQUEST.replace('/a', '/c'),
  )
  const text = textOf(client)
  for (let i = 0; i < 3; i++) {
    await until(() => exchanges.length > i, 'the request')
    const exchange = exchanges[i]
    if (exchange !== undefined) respond(exchange)
  }
  t.match(await text, /200 OK[^]*\/a[^]*200 OK[^]*\/b[^]*200 OK[^]*\/c$/)
})

t.test('with a body that was sent to its end; not with one that was not', async (t) => {
  holdTime(t)
  const post = 'POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n'
  const whole = await held(t, `${post}abcde`)
  const text = textOf(whole.client)
  let received = ''
  const { request } = whole.exchange
  await new Promise<void>((resolve) => {
    request.deliver({ data: (chunk) => (received += String(chunk)), end: resolve, aborted() {} })
  })
  t.equal(received, 'abcde')
  respond(whole.exchange)
  t.match(await text, /^HTTP\/1\.1 200 OK\r\n/)
  const cut = await held(t, `${post}abc`)
  await until(() => cut.exchange.response.destroyed, 'the cut')
  t.equal(cut.exchange.response.writableFinished, false)
})

t.test('an incomplete request after it is refused', async (t) => {
  const { client, exchange } = await held(t, `${REQUEST}GET /b HT`)
  const text = textOf(client)
  respond(exchange)
  t.match(await text, /200 OK[^]*\/aHTTP\/1\.1 400 /)
})

t.test('one that has left cancels its request before the response', async (t) => {
  const time = holdTime(t)
  const { client, exchange, listener } = await held(t)
  client.destroy()
  await untilStepped(time, () => exchange.response.destroyed)
  t.equal(exchange.response.writableFinished, false)
  await until(() => listener.connections.active === 0, 'the end of the request')
})

t.test('and in a response that stands still', async (t) => {
  const time = holdTime(t)
  const { client, exchange } = await held(t)
  exchange.response.writeHead(200, ResponseFields.of([]))
  exchange.response.write('one')
  await once(client, 'data')
  client.destroy()
  await untilStepped(time, () => exchange.response.destroyed)
  t.equal(exchange.response.writableFinished, false)
})

t.test('over TLS', async (t) => {
  const { port, listener } = await openSecured(t, acceptor([certificate(['a.example'])]), {
    handle: (request, response) => {
      if (request.url === '/a') return answer(request, response)
      return new Exchange(request, response, 'id', 0)
    },
  })
  const socket = await secure(port)
  const text = textOf(socket)
  socket.end(REQUEST)
  t.match(await text, /^HTTP\/1\.1 200 OK\r\n[^]*\/a$/)
  const leaving = await secure(port)
  leaving.write(REQUEST.replace('/a', '/held'))
  await until(() => listener.connections.active === 1, 'the request')
  leaving.destroy()
  await until(() => listener.connections.active === 0, 'the end of the request')
})
