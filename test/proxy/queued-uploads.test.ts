/** Uploads that wait because the upload slots of their target are taken. */

import t from 'tap'
import { holdTime } from '../support/held-time.ts'
import { RawClient } from '../support/raw-client.ts'
import { until } from '../support/until.ts'
import { front, serve } from './support.ts'

/** More than a small body is waited for before the request is queued, in ms. */
const QUEUED = 2001

t.test('a body that completes in the queue needs no slot: it is sent at once', async (t) => {
  const time = holdTime(t)
  let requests = 0
  const port = await serve(t, (request, response) => {
    requests++
    request.resume().on('end', () => response.end('done'))
  })
  const { port: gatewayPort, upstream, exchanges } = await front(t, port, { connections: 8, uploads: 1 })
  const slow = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 100000\r\n\r\n',
  )
  await until(() => requests === 1, 'the slow upload at the upstream')
  const queued = ['Content-Length: 2\r\n\r\na', 'Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n'].map((text) =>
    new RawClient(gatewayPort).send(`POST / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n${text}`),
  )
  await until(() => exchanges.filter(({ bytesIn }) => bytesIn === 1).length === 2, 'bytes of both bodies')
  time.pass(QUEUED)
  t.equal(upstream.targets()[0]?.pending, 3, 'both requests are queued')
  t.equal(requests, 1)
  queued[0]?.send('b')
  queued[1]?.send('0\r\n\r\n')
  for (const client of queued) t.match(await client.until('done'), /^HTTP\/1\.1 200 /)
  t.equal(requests, 3)
  slow.close()
})
