/** `100 Continue` is sent when the upstream is about to read the body, not before (RFC 9110, section 10.1.1). */

import t from 'tap'
import { front, serve } from './support.ts'
import { RawClient } from '../support/raw-client.ts'

const HEAD = 'POST / HTTP/1.1\r\nHost: gw\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n'

t.test('sent once, and the body passes', async (t) => {
  const expectations: (string | undefined)[] = []
  const port = await serve(t, (request, response) => {
    expectations.push(request.headers.expect)
    request.pipe(response)
  })
  const { port: gatewayPort } = await front(t, port)
  const wire = new RawClient(gatewayPort).send(HEAD)
  t.equal(await wire.until('\r\n\r\n'), 'HTTP/1.1 100 Continue\r\n\r\n')
  wire.send('body')
  t.match(await wire.until('0\r\n\r\n'), /HTTP\/1\.1 200 OK[\s\S]*body/)
  t.same(expectations, [undefined])
  wire.socket.destroy()
})

t.test('not sent without an upstream, nor for a body over the limit', async (t) => {
  const dead = await front(t, 1)
  const answer = await new RawClient(dead.port).send(HEAD).ended
  t.match(answer, /^HTTP\/1\.1 502 /)
  const port = await serve(t, (_, response) => response.end())
  const small = await front(t, port, { route: { maxBody: 3 } })
  t.match(await new RawClient(small.port).send(HEAD).ended, /^HTTP\/1\.1 413 /)
})
