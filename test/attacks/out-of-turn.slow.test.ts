/** Unparsable bytes behind or within a request: each request has exactly one response. */

import { connect } from 'node:net'
import t from 'tap'
import { startWorld } from '../support/world.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'

const world = await startWorld(t)

const get = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: a\r\n${more}\r\n`
const answers = (text: string) => [...text.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map((each) => Number(each[1]))
const slow = (ms: number) => ({
  answer: (_: unknown, response: import('node:http').ServerResponse) =>
    void setTimeout(() => response.end('the whole answer'), ms),
})

t.test('a request in flight gets its response, whatever follows it', async (t) => {
  const world = await startWorld(t, slow(150))
  for (const [name, bytes] of Object.entries({
    'stray bytes': `${get('/docs/a')}\x00\x01garbage\r\n\r\n`,
    'a byte after Connection: close': `${get('/docs/a', 'Connection: close\r\n')}x`,
    'a CONNECT': `${get('/docs/a')}CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n`,
    'a byte after HTTP/1.0': 'POST /open HTTP/1.0\r\nContent-Length: 1\r\n\r\naX',
  })) {
    const text = await roundTrip(world.port, bytes)
    const [answer = '', ...others] = text.split(/(?=HTTP\/1\.1 )/)
    t.match(answer, /^HTTP\/1\.1 200 [\s\S]*the whole answer(?:\r\n0\r\n\r\n)?$/, name)
    // Behind the last request of a connection nothing is read; otherwise the bytes get a response of their own, in
    // order.
    const last = /after/.test(name)
    t.same(answers(others.join('')), last ? [] : [400], name)
  }
})

t.test('no response is written in the middle of another', async (t) => {
  const world = await startWorld(t, {
    answer: (_request, response) => {
      response.writeHead(200, { 'content-length': 30 })
      response.write('0123456789')
      setTimeout(() => response.end('abcdefghijklmnopqrst'), 200)
    },
  })
  const text = await roundTrip(world.port, `${get('/docs/1')}${get('/docs/2')}\x01garbage\r\n\r\n`)
  t.same(answers(text), [200, 200, 400])
  for (const [index, answer] of text.split('HTTP/1.1 ').slice(1, 3).entries())
    t.match(answer, /^200 [\s\S]*\r\n\r\n0123456789abcdefghijklmnopqrst$/, `response ${index + 1}`)
})

t.test('a refused body that turns out to be malformed has one response', async (t) => {
  const head = 'POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
  // Bytes that arrive with the header section are parsed before any upstream is used.
  t.same(answers(await roundTrip(world.port, `${head}1\r\na\r\nzz\r\n`)), [400])
  const client = new RawClient(world.port).send(`${head}1\r\na\r\n`)
  await client.until('HTTP/1.1 404')
  t.same(answers(await client.send('zz\r\n').ended), [404])
})

t.test('a forwarded body that turns out to be malformed is 400, and reaches no upstream whole', async (t) => {
  const text = await roundTrip(
    world.port,
    'POST /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\nzz\r\n',
  )
  t.same(answers(text), [400])
  t.match(text, '"code":"request_malformed"')
  t.equal(world.upstream.seen.length, 0)
})

t.test('CONNECT followed by a disconnect: the process keeps running', async (t) => {
  for (let i = 0; i < 200; i++) {
    const socket = connect(world.port, '127.0.0.1')
    socket.on('error', () => {})
    await new Promise((resolve) => socket.once('connect', resolve))
    socket.write('CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n')
    setImmediate(() => socket.resetAndDestroy())
    await new Promise((resolve) => socket.once('close', resolve))
  }
  t.equal((await world.client.send('GET', '/docs/a')).status, 200)
})

t.test('an unparsable request is logged without its query, host or userinfo', async (t) => {
  const world = await startWorld(t)
  for (const target of ['//x?access_token=HUSH', '/a%2fb?password=HUSH', '/a#HUSH', 'http://u:HUSH@b/x'])
    t.match(await roundTrip(world.port, get(target), /}\n$/), /^HTTP\/1\.1 400 /, target)
  await world.gateway.close(1000)
  t.notMatch(world.logText(), 'HUSH')
  t.match(world.logText(), '/a%2Fb')
})

t.test('raw bytes beyond ASCII are an ambiguous path', async (t) => {
  for (const target of ['/caf\xe9', '/\xff'])
    t.match(await roundTrip(world.port, get(target)), /^HTTP\/1\.1 400 [\s\S]*"code":"path_ambiguous"/)
})
