/** Rules of RFC 9113, sections 8.2 and 8.3, about fields: what HTTP/1.1 could read differently gets no further. */

import t from 'tap'
import type { ClientRequest } from '../../../src/http/server/client-request.ts'
import type { Exchange } from '../../../src/http/server/exchange.ts'
import { END_STREAM, HEADERS, RST_STREAM } from '../../../src/http/wire/http2/http2-frames.ts'
import { and, MALFORMED } from '../../support/malformed-http2.ts'
import { GET, POST, RawHttp2 } from '../../support/raw-http2.ts'
import { acceptor, answer, authority, certificate, openSecured } from './tls-support.ts'

const a = certificate(['a.example'])
const REFUSED = 'status 400'

t.test('malformed requests', async (t) => {
  const seen: string[] = []
  const handle = (request: ClientRequest, response: Exchange['response']) => {
    seen.push(request.url)
    return answer(request, response)
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  for (const [rule, fields] of MALFORMED) {
    const client = await RawHttp2.open(port, authority.cert)
    client.headers(1, fields)
    t.equal(await client.outcome(1), REFUSED, rule)
    t.same(seen.splice(0), [], `${rule}: not handled`)
    // The connection is not affected, nor is its compression.
    client.headers(3)
    t.equal(await client.outcome(3), 'status 200', `${rule}: the next request`)
    seen.length = 0
    client.socket.destroy()
  }
})

t.test('a malformed request with a body is refused without it', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  client.headers(1, [...POST, ['x-a', '1\n']], 0)
  t.equal(await client.status(1), 400)
  t.equal(await client.reset(1), 0)
})

t.test('a malformed HEAD request is refused without content', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  client.headers(1, [[':method', 'HEAD'], ...GET.slice(1), ['x-a', '1\n']])
  t.equal(await client.status(1), 400)
  client.headers(3, [[':method', 'HEAD'], ...GET.slice(1), ['x-a', '1\n']], 0)
  t.equal(await client.reset(3), 0, 'its body is not wanted')
  await client.settled()
  const frames = client.received.filter(({ stream }) => stream === 1 || stream === 3)
  t.same(
    frames.map(({ type, flags, stream }) => [stream, type, flags & END_STREAM]),
    [
      [1, HEADERS, END_STREAM],
      [3, HEADERS, END_STREAM],
      [3, RST_STREAM, 0],
    ],
  )
})

t.test('over the limits: 431, and the next request is served', async (t) => {
  const { port } = await openSecured(t, acceptor([a], {}, true))
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  client.headers(1, and(['x-long', 'x'.repeat(50_000)]))
  t.equal(await client.status(1), 431)
  client.headers(3)
  t.equal(await client.status(3), 200)
})

t.test('what a request of HTTP/1.1 would show', async (t) => {
  const requests: ClientRequest[] = []
  const handle = (request: ClientRequest, response: Exchange['response']) => {
    requests.push(request)
    return answer(request, response)
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  client.headers(1, [
    [':method', 'GET'],
    [':path', '/v1/a?b=c'],
    [':scheme', 'https'],
    ['host', 'a.example:8443'],
    ['cookie', 'a=1'],
    ['x-twice', '1'],
    ['cookie', 'b=2'],
    ['x-twice', '2'],
    ['te', 'trailers'],
  ])
  t.equal(await client.status(1), 200)
  t.match(requests, [
    { method: 'GET', url: '/v1/a?b=c', host: 'a.example:8443', hosts: 1, http2: true, length: 0 },
  ])
  t.same(requests[0]?.rawHeaders, [
    'host',
    'a.example:8443',
    'x-twice',
    '1',
    'x-twice',
    '2',
    'te',
    'trailers',
    'cookie',
    'a=1; b=2',
  ])
})

t.test('Host in another spelling than the authority', async (t) => {
  const hosts: (string | null)[] = []
  const handle = (request: ClientRequest, response: Exchange['response']) => {
    hosts.push(request.host)
    return answer(request, response)
  }
  const { port } = await openSecured(t, acceptor([a], {}, true), { handle })
  const client = await RawHttp2.open(port, authority.cert)
  t.teardown(() => client.socket.destroy())
  for (const [at, host] of ['a.example', 'A.example', 'a.example.'].entries())
    t.equal(await client.headers(2 * at + 1, and(['host', host])).status(2 * at + 1), 200, host)
  t.same(hosts, ['a.example', 'a.example', 'a.example'])
  t.equal(await client.headers(7, and(['host', 'a.example:443'])).status(7), 400)
})
