/** No connection to the upstream: 502 upstream_unreachable, and the reason only in the log. */

import { once } from 'node:events'
import { createServer } from 'node:net'
import t from 'tap'
import { codeOf, front, get, serve } from './support.ts'
import { reservePort } from '../support/servers/ports.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'

t.test('refused', async (t) => {
  const port = await reservePort(t)
  const { port: gatewayPort, exchanges } = await front(t, port)
  const answer = await roundTrip(gatewayPort, get())
  t.match(answer, /^HTTP\/1\.1 502 /)
  t.equal(codeOf(answer), 'upstream_unreachable')
  t.notMatch(answer, `:${port}`, 'no internal address')
  t.match(exchanges[0]?.cause, { code: 'ECONNREFUSED' })
})

t.test("refused during an upload: the client's connection survives", async (t) => {
  const { port: gatewayPort } = await front(t, await reservePort(t))
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 10\r\n\r\n01234',
  )
  await wire.until('upstream_unreachable')
  wire.received = ''
  wire.send('56789GET / HTTP/1.1\r\nHost: gw\r\nConnection: close\r\n\r\n')
  t.equal(codeOf(await wire.ended), 'upstream_unreachable')
})

t.test('an unknown name', async (t) => {
  const { port: gatewayPort } = await front(t, 1, {
    targets: [new URL('http://nowhere.invalid:80')],
  })
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_unreachable')
})

t.test('TLS to an upstream without TLS', async (t) => {
  const port = await serve(t, (_, response) => response.end('ok'))
  const { port: gatewayPort } = await front(t, port, {
    targets: [new URL(`https://127.0.0.1:${port}`)],
  })
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_unreachable')
})

t.test('an upstream that comes back is used again', async (t) => {
  const port = await reservePort(t)
  const { port: gatewayPort } = await front(t, port)
  t.equal(codeOf(await roundTrip(gatewayPort, get())), 'upstream_unreachable')
  const server = createServer((socket) => {
    socket.on('data', () => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'))
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 200 /)
})
