/** Targets that do not speak the HTTP/2 that they are configured to speak: a fault of the target, with a clear cause. */

import { createServer as createTlsServer } from 'node:https'
import t, { type Test } from 'tap'
import { EJECTION } from '../../../src/proxy/upstream-options.ts'
import { Authority } from '../authority.ts'
import { codeOf, type Front, get, serve, serveRaw } from '../support.ts'
import { front2, serve2, tlsTarget } from './support.ts'
import { listen } from '../../support/listen.ts'
import { reservePort } from '../../support/servers/ports.ts'
import { roundTrip } from '../../support/raw-client.ts'

const authority = new Authority()
const identity = authority.issue({ names: ['localhost'] })

async function refused(
  t: Test,
  { port, exchanges, upstream }: Front,
  cause: RegExp,
  code: string,
): Promise<void> {
  const answer = await roundTrip(port, get())
  t.match(answer, /^HTTP\/1\.1 502 /)
  t.equal(codeOf(answer), code)
  t.match(exchanges[0]?.cause, { message: cause })
  t.notMatch(answer, cause, 'only the log has it')
  t.match(upstream.targets(), [{ state: 'ejected' }])
}

const once1 = { ejection: { ...EJECTION, failures: 1 } }

t.test('HTTP/1.1 without TLS: nothing of the request is sent', async (t) => {
  let requests = 0
  const port = await serve(t, (_, response) => {
    requests++
    response.end('evil')
  })
  await refused(t, await front2(t, port, once1), /does not speak HTTP\/2/, 'upstream_protocol_error')
  t.equal(requests, 0)
})

t.test('a server that answers anything with HTTP/1.1', async (t) => {
  let seen = ''
  const port = await serveRaw(t, (socket) => {
    socket.on('data', (bytes) => (seen += bytes.toString('latin1')))
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil')
  })
  await refused(t, await front2(t, port, once1), /does not speak HTTP\/2/, 'upstream_protocol_error')
  t.notMatch(seen, 'gw.example')
})

t.test('a server that closes the connection without a word', async (t) => {
  const port = await serveRaw(t, (socket) => socket.end())
  await refused(t, await front2(t, port, once1), /without SETTINGS/, 'upstream_protocol_error')
})

t.test('a server that says nothing', async (t) => {
  const port = await serveRaw(t, (socket) => socket.resume())
  const silent = await front2(t, port, { ...once1, connectTimeout: 50 })
  await refused(t, silent, /no connection within 50 ms/, 'upstream_unreachable')
})

t.test('TLS without ALPN h2', async (t) => {
  const server = createTlsServer(identity, (_, response) => response.end('evil'))
  server.on('tlsClientError', () => {})
  const config = tlsTarget(await listen(t, server))
  const secured = await front2(t, 0, { ...once1, ...config, tls: { ca: authority.cert } })
  await refused(t, secured, /does not speak HTTP\/2: .*ALPN/, 'upstream_protocol_error')
})

t.test('HTTP/2 without TLS, where TLS is expected; and no listener', async (t) => {
  const { port } = await serve2(t, (stream) => stream.end())
  for (const each of [port, await reservePort(t)]) {
    const front = await front2(t, 0, { ...once1, ...tlsTarget(each), tls: { ca: authority.cert } })
    t.equal(codeOf(await roundTrip(front.port, get())), 'upstream_unreachable')
  }
})
