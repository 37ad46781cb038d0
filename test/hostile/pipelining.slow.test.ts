/** Many requests on one connection, with any division into packets: each gets its own response, in order. */

import t from 'tap'
import { chunked, get, startGateway, post } from './gateway.ts'

const gateway = await startGateway(t)

const statuses = (all: readonly { status: number }[]) => all.map(({ status }) => status)

t.test('a hundred in one packet', async (t) => {
  const targets = Array.from({ length: 100 }, (_, index) => `/docs/${index}`)
  const { all, rest } = await gateway.send(targets.map((target) => get('', target)).join(''), {
    answers: 100,
  })
  t.same([statuses(all), rest], [targets.map(() => 200), ''])
  t.same(gateway.upstream.requests.map(({ target }) => target).toSorted(), targets.toSorted())
  await gateway.agrees(t)
})

t.test(
  'responses are in the order of their requests, though the upstream completes them in another',
  async (t) => {
    const unknown = (n: number) => get('', `/nowhere/${n}`)
    const bytes = [
      get('', '/docs/1'),
      unknown(2),
      post('Content-Length: 4\r\n', 'abcd'),
      unknown(4),
      get('', '/docs/5'),
    ]
    const { all, rest } = await gateway.send(bytes.join(''), { answers: 5 })
    t.same([statuses(all), rest], [[200, 404, 200, 404, 200], ''])
    t.equal(gateway.upstream.requests.length, 3)
    await gateway.agrees(t)
  },
)

t.test('bodies of all framings in sequence', async (t) => {
  const bytes = [
    post('Content-Length: 4\r\n', 'abcd'),
    chunked('4\r\nabcd\r\n0\r\n\r\n'),
    post('Content-Length: 0\r\n'),
    chunked('0\r\nX-A: a\r\n\r\n'),
    get(''),
    `HEAD /docs/a HTTP/1.1\r\nHost: a\r\n\r\n`,
    'DELETE /open HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n',
    get('', '/docs/last'),
  ]
  const heads = bytes.map((each) => each.startsWith('HEAD'))
  const { all, rest } = await gateway.send(bytes.join(''), { answers: 8, heads })
  t.same([statuses(all), rest], [bytes.map(() => 200), ''])
  t.same(gateway.upstream.requests.map(({ body }) => body).toSorted(), [
    '',
    '',
    '',
    '',
    '',
    'a',
    'abcd',
    'abcd',
  ])
  await gateway.agrees(t)
})

t.test('a refused body is discarded, and is not read as a request', async (t) => {
  const inner = get('', '/docs/inner')
  const refused = `POST /nowhere HTTP/1.1\r\nHost: a\r\nContent-Length: ${inner.length}\r\n\r\n${inner}`
  const hexed = inner.length.toString(16)
  const inChunks = `POST /nowhere HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n${hexed}\r\n${inner}\r\n0\r\n\r\n`
  const { all, rest } = await gateway.send(`${refused}${inChunks}${get('', '/docs/last')}`, { answers: 3 })
  t.same([statuses(all), rest], [[404, 404, 200], ''])
  t.same(
    gateway.upstream.requests.map(({ target }) => target),
    ['/docs/last'],
  )
  await gateway.agrees(t)
})

/** All framings in one stream, which must be read the same when split between any two bytes. */
const mixed = [
  post('Content-Length: 4\r\n', 'abcd'),
  get('X-A: a\r\n'),
  chunked('2;x=y\r\nab\r\n2\r\ncd\r\n0\r\nX-T: t\r\n\r\n'),
  get('', '/nowhere/a'),
  get('', '/docs/last'),
].join('')

t.test('split in two at every position', async (t) => {
  for (let at = 1; at < mixed.length; at++) {
    const { all, rest } = await gateway.send([mixed.slice(0, at), mixed.slice(at)], { answers: 5 })
    t.same([statuses(all), rest], [[200, 200, 200, 404, 200], ''], `at ${at}`)
  }
  t.equal(gateway.upstream.requests.length, 4 * (mixed.length - 1))
  await gateway.agrees(t)
})

t.test('byte by byte', async (t) => {
  const { all, rest } = await gateway.send([...mixed], { answers: 5 })
  t.same([statuses(all), rest], [[200, 200, 200, 404, 200], ''])
  t.same(gateway.upstream.requests.map(({ body }) => body).toSorted(), ['', '', 'abcd', 'abcd'])
  await gateway.agrees(t)
})

t.test('a malformed request is refused wherever it is split', async (t) => {
  const bad = post('Content-Length: 4\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n')
  for (let at = 1; at < bad.length; at += 3) {
    const { all, end } = await gateway.send([bad.slice(0, at), bad.slice(at)])
    t.same([all.map(({ code }) => code), end], [['request_malformed'], 'closed'], `at ${at}`)
  }
  t.same(gateway.upstream.requests, [])
})

t.test('a malformed request behind valid ones closes the connection after their responses', async (t) => {
  for (const bad of [
    get('X-A : a\r\n'),
    get('Host: b\r\n'),
    'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
    '\x00\x01',
  ]) {
    const { all, rest, end } = await gateway.send(`${get('')}${get('')}${bad}${get('', '/docs/hidden')}`)
    t.same([statuses(all).slice(0, 2), rest, end], [[200, 200], '', 'closed'], JSON.stringify(bad))
    t.ok(all.length <= 3 && all.slice(2).every(({ status }) => status === 400))
    t.equal(gateway.upstream.requests.length, 2)
    await gateway.agrees(t)
    gateway.forget()
  }
})

t.test('nothing behind "Connection: close" is a request', async (t) => {
  for (const value of ['close', 'Close', 'x, close', 'close, keep-alive']) {
    const { all, rest, end } = await gateway.send(
      `${get(`Connection: ${value}\r\n`)}${get('', '/docs/hidden')}`,
    )
    t.same([statuses(all), rest, end], [[200], '', 'closed'], value)
    t.equal(gateway.upstream.requests.length, 1)
    gateway.forget()
  }
})

t.test('"100 Continue" comes before the response of its own request only', async (t) => {
  const expecting = post('Expect: 100-continue\r\nContent-Length: 4\r\n', 'abcd')
  const { all, rest, text } = await gateway.send(get('') + expecting + expecting + get('', '/docs/last'), {
    answers: 4,
  })
  t.same([statuses(all), rest], [[200, 200, 200, 200], ''])
  t.ok(all.every(({ body }) => body === 'ok'))
  t.notMatch(text, /ok[\s\S]*\r\n\r\nHTTP\/1\.1 100 Continue\r\n\r\nok/, 'not behind a HEAD')
  await gateway.agrees(t)
})
