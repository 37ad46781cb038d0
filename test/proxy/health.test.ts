/** Health checks: the request, the thresholds, and their end with the upstream. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { Socket } from 'node:net'
import t, { type Test } from 'tap'
import type { TargetEvent, Unhealthy } from '../../src/proxy/upstream-events.ts'
import type { UpstreamHealth } from '../../src/config/config.ts'
import {
  closedPort,
  codeOf,
  eventually,
  front,
  type FrontOptions,
  get,
  roundTrip,
  serve,
  serveRaw,
  targetsAt,
  upstreamConfig,
} from './support.ts'

const settings: UpstreamHealth = { path: '/healthz', interval: 20, timeout: 2000, healthy: 2, unhealthy: 3 }

async function checked(t: Test, ports: number[], options: FrontOptions & { health?: UpstreamHealth } = {}) {
  const unhealthy: Unhealthy[] = []
  const returned: TargetEvent[] = []
  const listener = {
    onUnhealthy: (event: Unhealthy) => void unhealthy.push(event),
    onReturned: (event: TargetEvent) => void returned.push(event),
  }
  const config = { ...targetsAt(...ports), ...options.config }
  const made = await front(t, 0, { health: settings, ...options, config, listener })
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
  await eventually(() => checks.length >= 3)
  t.match(checks[0], '"GET"')
  t.match(checks[0], '"seatgate-health"')
  t.match(checks[0], `"127.0.0.1:${port}"`)
  t.match(checks[0], '"close"')
  t.notMatch(checks[0], /x-/i)
  t.same(exchanges, [])
  t.same(upstream.targets(), [{ target: `http://127.0.0.1:${port}`, state: 'in', pending: 0 }])
  await roundTrip(gatewayPort, get())
  t.same(requests, ['GET /a'])
})

const faults: Record<string, RequestListener> = {
  'status 500': (_, response) => void response.writeHead(500).end(),
  'status 503': (_, response) => void response.writeHead(503).end(),
  'status 302': (_, response) => void response.writeHead(302, { location: '/' }).end(),
  'status 404': (_, response) => void response.writeHead(404).end(),
  'no answer': (request) => void request.socket.destroy(),
  silence: () => {},
}
for (const [name, ill] of Object.entries(faults)) {
  t.test(`${name}: unavailable until it is healthy again`, async (t) => {
    let well = false
    const failing = await service(t, (request, response) =>
      well ? void response.end() : ill(request, response),
    )
    const { port } = await service(t, (_, response) => response.end())
    const health = { ...settings, timeout: name === 'silence' ? 50 : 2000 }
    const {
      port: gatewayPort,
      upstream,
      unhealthy,
      returned,
    } = await checked(t, [failing.port, port], { health })
    await eventually(() => unhealthy.length === 1)
    t.match(unhealthy, [{ upstream: 'trainings', target: `http://127.0.0.1:${failing.port}`, cause: Error }])
    t.match(upstream.targets(), [{ state: 'unhealthy' }, { state: 'in' }])
    for (let i = 0; i < 6; i++) t.match(await roundTrip(gatewayPort, get()), /^HTTP\/1\.1 200 /)
    t.same(failing.requests, [])
    well = true
    await eventually(() => returned.length === 1)
    for (let i = 0; i < 2; i++) await roundTrip(gatewayPort, get())
    t.equal(failing.requests.length, 1)
  })
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
  await eventually(() => checks >= 5)
  t.match(upstream.targets(), [{ state: 'in' }])
  t.same(unhealthy, [])
})

t.test('all unhealthy: 503 at once, without probes', async (t) => {
  const { port, requests } = await service(t, (_, response) => void response.writeHead(503).end())
  const { port: gatewayPort, unhealthy, exchanges } = await checked(t, [port])
  await eventually(() => unhealthy.length === 1)
  for (let i = 0; i < 5; i++) t.equal(codeOf(await roundTrip(gatewayPort, get())), 'unavailable')
  t.match(exchanges[0]?.cause, { message: 'status 503' })
  t.same(requests, [])
})

t.test('a closed port is unhealthy, and healthy once it is opened', async (t) => {
  const { port, unhealthy, returned, upstream } = await checked(t, [await closedPort()])
  await eventually(() => unhealthy.length === 1)
  t.match(unhealthy, [{ cause: { code: 'ECONNREFUSED' } }])
  t.equal(codeOf(await roundTrip(port, get())), 'unavailable')
  const [target] = upstream.targets()
  const server = createServer((_, response) => response.end('ok'))
  server.listen(Number(new URL(target?.target ?? '').port), '127.0.0.1')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  await eventually(() => returned.length === 1)
  t.match(await roundTrip(port, get()), /^HTTP\/1\.1 200 /)
})

t.test('no checks before the start, and none after the end', async (t) => {
  const sockets: Socket[] = []
  const port = await serveRaw(t, (socket) => void sockets.push(socket.resume()))
  const { upstream } = await front(t, port, { health: settings })
  t.same(sockets, [])
  upstream.start()
  await eventually(() => sockets.length === 1)
  await upstream.close()
  await eventually(() => sockets[0]?.destroyed === true)
  await new Promise((resolve) => setTimeout(resolve, 100))
  t.equal(sockets.length, 1)
})

t.test('a check never keeps the process alive', async (t) => {
  const { port, checks } = await service(t, (_, response) => response.end())
  const module = JSON.stringify(new URL('../../src/proxy/upstream.ts', import.meta.url).href)
  const health = { ...settings, interval: 3_600_000 }
  const config = JSON.stringify({ ...upstreamConfig(port), targets: undefined, health })
  const program = `
    const { Upstream } = await import(${module})
    const targets = [new URL('http://127.0.0.1:${port}')]
    new Upstream({ ...${config}, targets }).start()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'inherit' })
  const [code] = await once(child, 'exit')
  t.equal(code, 0)
  t.equal(checks.length, 1)
})
