/** CVE-2026-50197 (Skipper): a body limit that chunked framing evades. */

import t from 'tap'
import { codeOf, front, serve } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { until } from '../support/until.ts'

const LIMIT = { route: { maxBody: 10 } }
const chunked = (...parts: string[]) =>
  `POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${parts
    .map((part) => `${part.length.toString(16)}\r\n${part}\r\n`)
    .join('')}0\r\n\r\n`
const sized = (body: string) =>
  `POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`

t.test('exactly the limit passes, in either framing', async (t) => {
  const port = await serve(t, (request, response) => void request.pipe(response))
  const { port: gatewayPort } = await front(t, port, LIMIT)
  t.match(await roundTrip(gatewayPort, sized('0123456789')), /200[\s\S]*0123456789/)
  t.match(await roundTrip(gatewayPort, chunked('01234', '56789')), /^HTTP\/1\.1 200 /)
})

t.test('an announced length over it never reaches the upstream', async (t) => {
  let requests = 0
  const port = await serve(t, (_, response) => {
    requests++
    response.end()
  })
  const { port: gatewayPort } = await front(t, port, { route: { maxBody: 300_000 } })
  const answer = await roundTrip(gatewayPort, sized('a'.repeat(300_001)))
  t.match(answer, /^HTTP\/1\.1 413 /)
  t.equal(codeOf(answer), 'body_too_large')
  t.equal(requests, 0)
})

t.test('a chunked body over it is cut, and never looks complete to the upstream', async (t) => {
  let whole = 0
  let closed = 0
  const port = await serve(t, (request) => {
    request
      .on('error', () => {})
      .resume()
      .on('end', () => whole++)
      .on('close', () => closed++)
  })
  const { port: gatewayPort } = await front(t, port, LIMIT)
  t.equal(codeOf(await roundTrip(gatewayPort, chunked('01234', '56789a'))), 'body_too_large')
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n',
  )
  wire.send('6\r\n56789a\r\n')
  await wire.until('body_too_large')
  wire.socket.destroy()
  await until(() => closed === 2, 'the end of both connections')
  t.equal(whole, 0)
})

t.test('over it after the response has begun: the response is cut', async (t) => {
  const port = await serve(t, (request, response) => {
    request.resume()
    response.write('begun')
  })
  const { port: gatewayPort } = await front(t, port, LIMIT)
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n01234\r\n',
  )
  await wire.until('begun')
  wire.send('6\r\n56789a\r\n')
  const all = await wire.ended
  t.notMatch(all, /HTTP\/1\.1 413|\r\n0\r\n\r\n/)
})
