/** Requests that two parsers read differently: refused, the connection closed, nothing forwarded. */

import t from 'tap'
import { startWorld } from '../support/world.ts'
import { roundTrip } from '../support/raw-client.ts'

const world = await startWorld(t)

const cases: Record<string, string> = {
  'two Content-Lengths':
    'POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde',
  'two equal Content-Lengths':
    'POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nabcd',
  'a list of Content-Lengths': 'POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4, 4\r\n\r\nabcd',
  'Content-Length +4': 'POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: +4\r\n\r\nabcd',
  'Content-Length and Transfer-Encoding':
    'POST /open HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: ,chunked':
    'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: ,chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: gzip, chunked':
    'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: xchunked':
    'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: xchunked\r\n\r\n0\r\n\r\n',
  'Transfer-Encoding: identity': 'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: identity\r\n\r\n',
  'Transfer-Encoding twice':
    'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'chunked in HTTP/1.0': 'POST /open HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  'space before the colon': 'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n',
  'a folded line': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: b\r\n c\r\n\r\n',
  'a bare LF': 'GET /docs/a HTTP/1.1\nHost: a\n\n',
  'a bare CR in a value': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: b\rc\r\n\r\n',
  'NUL in a value': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nX-A: b\0c\r\n\r\n',
  'no Host': 'GET /docs/a HTTP/1.1\r\n\r\n',
  'two Hosts': 'GET /docs/a HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n',
  'an empty Host': 'GET /docs/a HTTP/1.1\r\nHost:\r\n\r\n',
  'a Host with a path': 'GET /docs/a HTTP/1.1\r\nHost: a/b\r\n\r\n',
  'a Host with userinfo': 'GET /docs/a HTTP/1.1\r\nHost: u@a\r\n\r\n',
  'another host in the target': 'GET http://b/docs/a HTTP/1.1\r\nHost: a\r\n\r\n',
  'an asterisk': 'GET * HTTP/1.1\r\nHost: a\r\n\r\n',
  CONNECT: 'CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n',
  'HTTP/0.9': 'GET /docs/a\r\n\r\n',
  'HTTP/2 in words': 'GET /docs/a HTTP/2.0\r\nHost: a\r\n\r\n',
  'a TLS hello': '\x16\x03\x01\x00\xa5\x01\x00',
  'a bad chunk size': 'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n',
  'an odd Expect': 'POST /open HTTP/1.1\r\nHost: a\r\nExpect: 200-ok\r\nContent-Length: 0\r\n\r\n',
  'two Spaces': 'GET /v1/trainings HTTP/1.1\r\nHost: a\r\nSpace: a\r\nSpace: b\r\n\r\n',
}

t.test('each is 400 request_malformed, and the connection closes', async (t) => {
  for (const [name, bytes] of Object.entries(cases)) {
    const answer = await roundTrip(world.port, bytes)
    t.match(answer, /^HTTP\/1\.1 400 /, name)
    t.match(answer, '"code":"request_malformed"', name)
    t.match(answer, /connection: close/i, name)
    t.match(answer, /application\/problem\+json/i, name)
    t.equal(answer.split('HTTP/1.1 ').length, 2, `${name}: one response`)
  }
  t.equal(world.upstream.seen.length, 0)
})

t.test('a hidden request behind a refused one gets no response', async (t) => {
  const hidden = 'GET /docs/hidden HTTP/1.1\r\nHost: a\r\n\r\n'
  for (const bytes of [
    cases['two Content-Lengths'],
    cases['Content-Length and Transfer-Encoding'],
    cases['two Hosts'],
  ]) {
    const answer = await roundTrip(world.port, `${bytes}${hidden}`)
    t.equal(answer.split('HTTP/1.1 ').length, 2)
  }
  t.equal(world.upstream.seen.length, 0)
})

t.test('CVE-2026-29057: a chunked DELETE is one request upstream, body and all', async (t) => {
  const world = await startWorld(t, {
    routes: ['DELETE /open: public', 'OPTIONS /open: public', 'GET /open: public'],
  })
  const inner = 'GET /v1/admin HTTP/1.1\r\nHost: a\r\nX-Seatgate-User: root\r\n\r\n'
  for (const method of ['DELETE', 'OPTIONS', 'GET']) {
    const chunk = `${inner.length.toString(16)}\r\n${inner}\r\n0\r\n\r\n`
    const answer = await roundTrip(
      world.port,
      `${method} /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n${chunk}`,
    )
    t.match(answer, /^HTTP\/1\.1 200 /, method)
    t.equal(world.upstream.seen.at(-1)?.body, inner, method)
  }
  t.equal(world.upstream.seen.length, 3)
})

t.test('GET with a Trailer header neither hangs nor crashes', async (t) => {
  const extra = 'Trailer: X\r\nTE: trailers\r\nKeep-Alive: x=1\r\nConnection: close\r\n'
  const answer = await roundTrip(world.port, `GET /docs/a HTTP/1.1\r\nHost: a\r\n${extra}\r\n`)
  t.match(answer, /^HTTP\/1\.1 200 /)
  t.equal((await world.client.send('GET', '/docs/a')).status, 200)
})
