/** Retries at another target: only of requests without an effect. */

import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { Retry } from '../../src/proxy/upstream-events.ts'
import { EJECTION } from '../../src/proxy/upstream-options.ts'
import { holdTime } from '../support/held-time.ts'
import { codeOf, front, serve, serveRaw, targetsAt } from './support.ts'
import { RawClient, roundTrip } from '../support/raw-client.ts'
import { reservePort } from '../support/servers/ports.ts'
import { until } from '../support/until.ts'

/** Disabled ejection, so that each request meets each target. */
const never = { ...EJECTION, failures: 1_000_000 }

/** Scripted targets that record their requests. They are tried in this order. */
async function targets(t: Test, ...acts: ((socket: Socket) => void)[]) {
  const seen: string[] = []
  const ports = await Promise.all(
    acts.map((act, i) =>
      serveRaw(t, (socket) =>
        socket.on('data', (bytes) => {
          seen.push(`${i} ${bytes.toString().split(' HTTP')[0]}`)
          act(socket)
        }),
      ),
    ),
  )
  return { seen, config: targetsAt(...ports) }
}

const answer = (socket: Socket) => void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok')
const close = (socket: Socket) => void socket.end()
const reset = (socket: Socket) => void socket.resetAndDestroy()

const request = (line: string, body = '') =>
  `${line} HTTP/1.1\r\nHost: gw\r\n${body === '' ? '' : `Content-Length: ${body.length}\r\n`}Connection: close\r\n\r\n${body}`

for (const [how, die] of Object.entries({ closed: close, reset })) {
  for (const method of ['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS']) {
    t.test(`${method} on a new connection that is ${how}: the other target gets it, once`, async (t) => {
      const { seen, config } = await targets(t, die, answer)
      const { port } = await front(t, 0, { ...config, ejection: never })
      t.match(await roundTrip(port, request(`${method} /`)), /^HTTP\/1\.1 200 /)
      t.same(seen, [`0 ${method} /`, `1 ${method} /`])
    })
  }
  for (const [method, body] of [
    ['POST', ''],
    ['POST', 'body'],
    ['PATCH', 'body'],
    ['PURGE', ''],
    ['PUT', 'body'],
    ['DELETE', 'body'],
  ] as const) {
    t.test(`${method} ${body} may have arrived before the connection was ${how}: no retry`, async (t) => {
      const { seen, config } = await targets(t, die, answer)
      const { port } = await front(t, 0, { ...config, ejection: never })
      t.equal(codeOf(await roundTrip(port, request(`${method} /`, body))), 'upstream_protocol_error')
      t.same(new Set(seen.map((each) => each[0])), new Set(['0']))
    })
  }
}

for (const method of ['GET', 'POST', 'PATCH', 'PUT']) {
  t.test(`${method} without a connection: another target gets it, with the whole body`, async (t) => {
    const bodies: string[] = []
    const port = await serve(t, async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      bodies.push(body)
      response.end('ok')
    })
    const config = targetsAt(await reservePort(t), await reservePort(t), port)
    const { port: gatewayPort } = await front(t, 0, { ...config, ejection: never })
    const body = method === 'GET' ? '' : 'a'.repeat(100_000)
    t.match(await roundTrip(gatewayPort, request(`${method} /`, body)), /^HTTP\/1\.1 200 /)
    t.same(bodies, [body])
  })
}

t.test('a body with Expect: 100-continue is requested once', async (t) => {
  const port = await serve(
    t,
    (request, response) => void request.resume().on('end', () => response.end('ok')),
  )
  const config = targetsAt(await reservePort(t), port)
  const { port: gatewayPort } = await front(t, 0, { ...config, ejection: never })
  const wire = new RawClient(gatewayPort).send(
    'POST / HTTP/1.1\r\nHost: gw\r\nContent-Length: 4\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n',
  )
  await wire.until('HTTP/1.1 100 Continue\r\n\r\n')
  const all = await wire.send('body').ended
  t.equal(all.split('100 Continue').length, 2)
  t.match(all, /HTTP\/1\.1 200 OK/)
})

const begun: Record<string, string> = {
  'half a status line': 'HTTP/1.1 20',
  'half a head': 'HTTP/1.1 200 OK\r\nX-A: a',
  'an interim answer': 'HTTP/1.1 103 Early Hints\r\n\r\n',
  garbage: 'hello there\r\n\r\n',
}
for (const [name, bytes] of Object.entries(begun)) {
  t.test(`${name}, and then nothing: no retry`, async (t) => {
    const { seen, config } = await targets(t, (socket) => void socket.end(bytes), answer)
    const { port } = await front(t, 0, { ...config, ejection: never })
    t.match(await roundTrip(port, request('GET /')), 'upstream_protocol_error')
    t.same(seen, ['0 GET /'])
  })
}

t.test('a truncated response is cut, not retried', async (t) => {
  const part = (socket: Socket) => void socket.end('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\npart')
  const { seen, config } = await targets(t, part, answer)
  const { port } = await front(t, 0, { ...config, ejection: never })
  t.ok((await roundTrip(port, request('GET /'))).endsWith('\r\n\r\npart'))
  t.same(seen, ['0 GET /'])
})

t.test('a timeout is not retried: the target may be working on it', async (t) => {
  const time = holdTime(t)
  const { seen, config } = await targets(t, () => {}, answer)
  const { port } = await front(t, 0, { ...config, responseTimeout: 50, ejection: never })
  const wire = new RawClient(port).send(request('GET /'))
  await until(() => seen.length === 1, 'the request at the upstream')
  time.pass(60)
  t.equal(codeOf(await wire.ended), 'upstream_timeout')
  t.same(seen, ['0 GET /'])
})

t.test('at most two retries, each at a new target', async (t) => {
  const { seen, config } = await targets(t, reset, close, reset, answer)
  const retries: Retry[] = []
  const listener = { onRetry: (retry: Retry) => void retries.push(retry) }
  const { port } = await front(t, 0, { ...config, ejection: never, listener })
  t.equal(codeOf(await roundTrip(port, request('GET /'))), 'upstream_protocol_error')
  t.same(seen, ['0 GET /', '1 GET /', '2 GET /'])
  const [first, second, third] = config.targets.map(({ origin }) => origin)
  t.match(retries, [
    { upstream: 'trainings', target: first, next: second, cause: Error },
    { target: second, next: third, cause: Error },
  ])
  t.equal(retries.length, 2)
})

t.test('no retry without a new target', async (t) => {
  const { seen, config } = await targets(t, reset, reset)
  const { port } = await front(t, 0, { ...config, ejection: never })
  t.equal(codeOf(await roundTrip(port, request('GET /'))), 'upstream_protocol_error')
  t.same(seen, ['0 GET /', '1 GET /'])
})

t.test('as the budget allows', async (t) => {
  // The budget counts the requests of the last ten seconds.
  holdTime(t)
  const { seen, config } = await targets(t, reset, answer)
  const retries = { perRequest: 2, share: 0.2, perSecond: 0 }
  const { port } = await front(t, 0, { ...config, ejection: never, retries, balance: 'round-robin' })
  const requests = 40
  let succeeded = 0
  for (let i = 0; i < requests; i++)
    if ((await roundTrip(port, request('GET /'))).includes(' 200 ')) succeeded++
  const retried = seen.length - requests
  t.ok(retried > 0 && retried <= requests * 0.2, `${retried} of ${requests}`)
  const failed = seen.filter((each) => each.startsWith('0')).length
  t.equal(succeeded, requests - failed + retried, 'retried requests succeeded, the others did not')
})

t.test('a keep-alive race does not count against the budget', async (t) => {
  let connections = 0
  const port = await serveRaw(t, (socket) => {
    const number = ++connections
    let requests = 0
    socket.on('data', () => (requests++ === 0 || number > 1 ? answer(socket) : reset(socket)))
  })
  const retries = { perRequest: 2, share: 0, perSecond: 0 }
  const { port: gatewayPort } = await front(t, port, { retries })
  for (let i = 0; i < 2; i++) t.match(await roundTrip(gatewayPort, request('GET /')), /^HTTP\/1\.1 200 /)
  await until(() => connections === 2, 'a second connection')
  t.equal(connections, 2)
})
