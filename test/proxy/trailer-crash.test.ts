/** node-http-proxy #1647: a GET with a Trailer header hung the proxy, or killed the process. */

import t from 'tap'
import { front, get, serve, valuesOf } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'

t.test('a request with a Trailer header is served, and so is the next', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gatewayPort } = await front(t, port)
  for (let i = 0; i < 2; i++)
    t.match(await roundTrip(gatewayPort, get('Trailer: X-Sum', 'TE: trailers')), /^HTTP\/1\.1 200 /)
})

t.test('request trailers are read and not forwarded', async (t) => {
  let trailers = {}
  let headers = {}
  const port = await serve(t, (request, response) => {
    headers = request.headers
    request.resume().on('end', () => {
      trailers = request.trailers
      response.end('ok')
    })
  })
  const { port: gatewayPort } = await front(t, port)
  const answer = await roundTrip(
    gatewayPort,
    'POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\nTrailer: X-Seatgate-User\r\nConnection: close\r\n\r\n2\r\nok\r\n0\r\nX-Seatgate-User: root\r\n\r\n',
  )
  t.match(answer, /^HTTP\/1\.1 200 /)
  t.same(trailers, {})
  t.match(headers, { 'x-seatgate-user': 'alice' })
})

t.test('a response that announces trailers it cannot have does not end the process', async (t) => {
  const port = await serve(t, (request, response) => {
    const sized = request.url === '/sized'
    response.writeHead(200, { Trailer: 'X-Sum', ...(sized ? {} : { 'Transfer-Encoding': 'chunked' }) })
    response.end()
  })
  const { port: gatewayPort } = await front(t, port)
  for (const line of ['HEAD /', 'GET /']) {
    const answer = await roundTrip(gatewayPort, `${line} HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n`)
    t.match(answer, /^HTTP\/1\.1 200 /)
    t.same(valuesOf(answer, 'trailer'), line.startsWith('HEAD') ? [] : ['X-Sum'])
  }
})
