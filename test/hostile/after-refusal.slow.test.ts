/** Bytes on a connection behind a refused request: none of them is a request, and the response arrives. */

import t from 'tap'
import { RawClient } from '../support/raw-client.ts'
import { readAnswers } from '../support/responses.ts'
import { until } from '../support/until.ts'
import { get, onlyAlive, startGateway, post } from './gateway.ts'

const gateway = await startGateway(t)

const malformed: Readonly<Record<string, string>> = {
  'the parser gave up': get('X-A : a\r\n'),
  'the guard refused': get('Host: b\r\n'),
  'with a body': post('Content-Length: 4\r\nContent-Length: 4\r\n', 'abcd'),
  'with chunks': post(
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n',
    '4\r\nabcd\r\n0\r\n\r\n',
  ),
  'a broken chunk': post('Transfer-Encoding: chunked\r\n', '4\r\nabcd\r\nzz\r\n'),
  CONNECT: 'CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n',
  'a header section too large': get(`X-A: ${'a'.repeat(40_000)}\r\n`),
  TRACE: 'TRACE /docs/a HTTP/1.1\r\nHost: a\r\n\r\n',
}

t.test('thousands of requests behind it, in the same packet', async (t) => {
  for (const [name, bytes] of Object.entries(malformed)) {
    const { all, rest, end } = await gateway.send(bytes + get('', '/docs/hidden').repeat(5000))
    t.same([all.length, rest], [1, ''], `${name}: one response`)
    t.ok((all[0]?.status ?? 0) >= 400)
    t.not(end, 'open', name)
    await onlyAlive(t, gateway, name)
  }
})

t.test('requests in separate packets after the response', async (t) => {
  for (const [name, bytes] of Object.entries(malformed)) {
    const text = await goingOn(bytes, get('', '/docs/hidden'))
    t.same([readAnswers(text).all.length, readAnswers(text).rest], [1, ''], name)
    await onlyAlive(t, gateway, name)
  }
})

/** Keeps writing, whatever the responses, until the gateway has closed the connection. */
async function goingOn(first: string, more: string): Promise<string> {
  const client = new RawClient(gateway.world.port, { halfOpen: true }).send(first)
  const { socket } = client
  for (let i = 0; i < 500 && !socket.closed; i++) await new Promise((resolve) => socket.write(more, resolve))
  await until(() => client.finished || socket.closed, 'the end of the connection')
  client.close()
  return client.received
}

t.test('a refusal that keeps the connection open leaves it usable', async (t) => {
  const bytes = [
    get('', '/nowhere'),
    'DELETE /docs/a HTTP/1.1\r\nHost: a\r\n\r\n',
    get('', '/v1/trainings'),
    get('', '/docs/%2e%2e/a'),
    post('Content-Length: 4\r\n', 'abcd'),
  ]
  const { all, rest } = await gateway.send(bytes.join(''), { answers: 5 })
  t.same([all.map(({ status }) => status), rest], [[404, 405, 401, 400, 200], ''])
  t.same(
    gateway.upstream.requests.map(({ target }) => target),
    ['/open'],
  )
  await gateway.agrees(t)
})

t.test('a client that disconnects at any point leaves nothing behind', async (t) => {
  const whole = post('Content-Length: 4\r\nX-A: a\r\n', 'abcd')
  for (let at = 1; at < whole.length; at++) {
    const { all } = await gateway.send(whole.slice(0, at), { finish: true })
    t.notOk(
      all.some(({ status }) => status < 400),
      `at ${at}`,
    )
    t.notOk(
      gateway.upstream.requests.some((request) => request.whole),
      `at ${at}: no complete request upstream`,
    )
  }
})
