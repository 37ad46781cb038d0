/** Health checks and inspections of targets of HTTP/2. */

import t, { type Test } from 'tap'
import type { UpstreamHealth } from '../../../src/config/config.ts'
import { inspectTarget } from '../../../src/proxy/inspect-target.ts'
import type { Unhealthy } from '../../../src/proxy/upstream-events.ts'
import { Authority } from '../authority.ts'
import { serve, serveRaw } from '../support.ts'
import { front2, serve2, serveTls2, tlsTarget } from './support.ts'
import { until } from '../../support/until.ts'

const health: UpstreamHealth = { path: '/healthz', interval: 20, timeout: 30_000, healthy: 1, unhealthy: 1 }

async function causeAt(t: Test, port: number, more: Partial<UpstreamHealth> = {}): Promise<unknown> {
  const unhealthy: Unhealthy[] = []
  const listener = { onUnhealthy: (event: Unhealthy) => void unhealthy.push(event) }
  const { upstream } = await front2(t, port, { health: { ...health, ...more }, listener })
  upstream.start()
  await until(() => unhealthy.length > 0, 'the target out of service')
  return unhealthy[0]?.cause
}

t.test('each check is a GET over HTTP/2 on a connection of its own', async (t) => {
  const seen: unknown[] = []
  const { port, sessions } = await serve2(t, (stream, headers) => {
    seen.push([headers[':method'], headers[':path'], headers['user-agent'], headers[':authority']])
    stream.respond({}, { endStream: true })
  })
  const { upstream } = await front2(t, port, { health })
  upstream.start()
  await until(() => seen.length >= 3, 'three checks')
  t.same(seen[0], ['GET', '/healthz', 'seatgate-health', `127.0.0.1:${port}`])
  t.ok(sessions.length >= 3)
  await until(() => sessions.filter(({ closed }) => closed).length >= 2, 'the end of two sessions')
  t.match(upstream.targets(), [{ state: 'in' }])
})

t.test('another status, and another protocol, are not healthy', async (t) => {
  const { port } = await serve2(t, (stream) => stream.respond({ ':status': 503 }, { endStream: true }))
  t.match(await causeAt(t, port), { message: 'status 503' })
  const other = await serve(t, (_, response) => response.end())
  t.match(await causeAt(t, other), { code: 'UPSTREAM_NO_HTTP2' })
  const { port: silent } = await serve2(t, () => {})
  t.match(await causeAt(t, silent, { timeout: 50 }), { message: 'no response within 50 ms' })
})

t.test('an inspection tells HTTP/2 from other protocols', async (t) => {
  const authority = new Authority()
  const tls = { ca: authority.cert, cert: null, key: null, serverName: null, insecureSkipVerify: false }
  const identity = authority.issue({ names: ['localhost'] })
  let requests = 0
  const { port: secured } = await serveTls2(t, identity, () => requests++)
  const [url = new URL('http://a')] = tlsTarget(secured).targets
  const { validity } = await inspectTarget(url, { tls, health: null, protocol: 'h2' }, 30_000)
  t.ok((validity?.until ?? 0) > Date.now())
  const { port } = await serve2(t, () => requests++)
  const at = (of: number) => new URL(`http://127.0.0.1:${of}`)
  const plain = { tls: null, health: null, protocol: 'h2c' } as const
  t.match(await inspectTarget(at(port), plain, 30_000), { unhealthy: null })
  const other = await serve(t, (_, response) => response.end())
  await t.rejects(inspectTarget(at(other), plain, 30_000), { code: 'UPSTREAM_NO_HTTP2' })
  const silent = await serveRaw(t, (socket) => socket.resume())
  await t.rejects(inspectTarget(at(silent), plain, 50), { code: 'UPSTREAM_CONNECT_TIMEOUT' })
  t.equal(requests, 0)
})
