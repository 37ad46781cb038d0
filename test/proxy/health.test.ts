/** Health checks: the request, the thresholds, and their end with the upstream. */

import { createServer, type RequestListener } from 'node:http'
import { connect, type Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { TargetEvent, Unhealthy } from '../../src/proxy/upstream-events.ts'
import type { UpstreamHealth } from '../../src/config/config.ts'
import { type HeldTime, holdTime, untilStepped } from '../support/held-time.ts'
import { codeOf, front, type FrontOptions, get, serve, serveRaw, targetsAt } from './support.ts'
import { roundTrip } from '../support/raw-client.ts'
import { reservePort } from '../support/servers/ports.ts'
import { until } from '../support/until.ts'

const settings: UpstreamHealth = { path: '/healthz', interval: 20, timeout: 30_000, healthy: 2, unhealthy: 3 }

async function checked(t: Test, ports: number[], options: FrontOptions & { health?: UpstreamHealth } = {}) {
  const unhealthy: Unhealthy[] = []
  const returned: TargetEvent[] = []
  const listener = {
    onUnhealthy: (event: Unhealthy) => void unhealthy.push(event),
    onReturned: (event: TargetEvent) => void returned.push(event),
  }
  const made = await front(t, 0, { health: settings, ...targetsAt(...ports), ...options, listener })
  made.upstream.start()
  return { ...made, unhealthy, returned }
}

/** A service that reports its health. */
async function service(t: Test, answer: RequestListener) {
  const checks: string[] = []
  const requests: string[] = []
  const port = await serve(t, (request, response) => {
    if (request.url !== '/healthz') {
      requests.push(`${request.method} ${request.url}`)
      return void response.end('ok')
    }
    checks.push(JSON.stringify([request.method, request.rawHeaders]))
    return answer(request, response)
  })
  return { port, checks, requests }
}

t.test('a check is a plain GET on a connection of its own, and no traffic', async (t) => {
  const { port, checks, requests } = await service(t, (_, response) => response.end())
  const { port: gatewayPort, exchanges, upstream } = await checked(t, [port])
  await until(() => checks.length >= 3, 'three checks')
  t.match(checks[0], '"GET"')
  t.match(checks[0], '"seatgate-health"')
  t.match(checks[0], `"127.0.0.1:${port}"`)
  t.match(checks[0], '"close"')
  t.notMatch(checks[0], /x-/i)
  t.same(exchanges, [])
  t.same(upstream.targets(), [
    { target: `http://127.0.0.1:${port}`, state: 'in', pending: 0, certificate: null },
  ])
  await roundTrip(gatewayPort, get())
  t.same(requests, ['GET /a'])
})

const faults: Record<string, RequestListener> = {
  'status 500': (_, response) => void response.writeHead(500).end(),
  'status 503': (_, response) => void response.writeHead(503).end(),
  'status 302': (_, response) => void response.writeHead(302, { location: '/' }).end(),
  'status 404': (_, response) => void response.writeHead(404).end(),
  'no answer': (request) => void request.socket.destroy(),
}
for (const [name, ill] of Object.entries(faults)) {
  t.test(`${name}: unavailable until it is healthy again`, async (t) => {
    let well = false
    const failing = await service(t, (request, response) =>
      well ? void response.end() : ill(request, response),
    )
    const { port } = await service(t, (_, response) => response.end())
    const { port: gatewayPort, upstream, unhealthy, returned } = await checked(t, [failing.port, port])
    await until(() => unhealthy.length === 1, 'the target out of service')
    t.match(unhealthy, [{ upstream: 'trainings', target: `http://127.0.0.1:${failing.port}`, cause: Error }])
    t.match(upstream.targets(), [{ state: 'unhealthy' }, { state: 'in' }])
    for (let i = 0; i < 6; i++) t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 200 /)
    t.same(failing.requests, [])
    well = true
    await until(() => returned.length === 1, 'the target back in service')
    for (let i = 0; i < 2; i++) await roundTrip(gatewayPort, get())
    t.equal(failing.requests.length, 1)
  })
}

t.test('silence: unavailable until it is healthy again', async (t) => {
  const time = holdTime(t)
  let well = false
  const { port, checks } = await service(t, (_, response) => (well ? void response.end() : undefined))
  const { unhealthy, returned, upstream } = await checked(t, [port])
  for (let count = 1; count <= settings.unhealthy; count++) {
    await untilChecked(time, checks, count)
    t.same(unhealthy, [])
    time.pass(settings.timeout)
  }
  t.match(unhealthy, [{ cause: { message: /no response within/ } }])
  t.match(upstream.targets(), [{ state: 'unhealthy' }])
  well = true
  await untilChecked(time, checks, settings.unhealthy + settings.healthy)
  await until(() => returned.length === 1, 'the target back in service')
})

/** Resolves when the service has received this number of checks. */
async function untilChecked(time: HeldTime, checks: readonly string[], count: number): Promise<void> {
  await untilStepped(time, () => checks.length >= count)
}

t.test('an endless body is not awaited, and an interim response does not count', async (t) => {
  let checks = 0
  const port = await serveRaw(t, (socket) =>
    socket.once('data', () => {
      checks++
      socket.write('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf')
    }),
  )
  const { upstream, unhealthy } = await checked(t, [port])
  await until(() => checks >= 5, 'five checks')
  t.match(upstream.targets(), [{ state: 'in' }])
  t.same(unhealthy, [])
})

t.test('all unhealthy: 503 at once, without probes', async (t) => {
  const { port, requests } = await service(t, (_, response) => void response.writeHead(503).end())
  const { port: gatewayPort, unhealthy, exchanges } = await checked(t, [port])
  await until(() => unhealthy.length === 1, 'the target out of service')
  for (let i = 0; i < 5; i++) t.equal(codeOf(await roundTrip(gatewayPort, get())), 'unavailable')
  t.match(exchanges[0]?.cause, { message: 'status 503' })
  t.same(requests, [])
})

t.test('a closed port is unhealthy, and healthy once it is opened', async (t) => {
  const { port, unhealthy, returned, upstream } = await checked(t, [await reservePort(t)])
  await until(() => unhealthy.length === 1, 'the target out of service')
  t.match(unhealthy, [{ cause: { code: 'ECONNREFUSED' } }])
  t.equal(codeOf(await roundTrip(port, get())), 'unavailable')
  const [target] = upstream.targets()
  const server = createServer((_, response) => response.end('ok'))
  server.listen(Number(new URL(target?.target ?? '').port), '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await until(() => returned.length === 1, 'the target back in service')
  t.match(await roundTrip(port, get()), /^HTTP\/1\.1 200 /)
})

for (const [when, answers] of [
  ['during a check', false],
  ['between two checks', true],
] as const)
  t.test(`no checks before the start, and none after the end ${when}`, async (t) => {
    const time = holdTime(t)
    const sockets: Socket[] = []
    const port = await serveRaw(t, (socket) => {
      sockets.push(socket.resume())
      if (answers) socket.once('data', () => socket.end('HTTP/1.1 204 No Content\r\n\r\n'))
    })
    const { upstream } = await front(t, port, { health: settings })
    t.same(sockets, [])
    upstream.start()
    await until(() => sockets.length === 1 && sockets[0]?.destroyed === answers, 'the first check')
    await upstream.close()
    await until(() => sockets[0]?.destroyed === true, 'the end of the first connection')
    for (let i = 0; i < 10; i++) time.pass(settings.interval)
    // A check would have come before this connection.
    const own = connect(port, '127.0.0.1')
    await until(() => sockets.length >= 2, 'a second connection')
    t.equal(sockets.length, 2)
    t.equal(sockets[1]?.remotePort, own.localPort)
    own.destroy()
  })
