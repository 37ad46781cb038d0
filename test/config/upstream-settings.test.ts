/** Settings of an upstream: several targets, health checks, TLS. */

import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { ConfigError } from '../../src/config/faults.ts'
import { loadConfig } from '../../src/config/load.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'

async function upstreamOf(t: Test, lines: readonly string[]) {
  const folder = t.testdir({})
  mkdirSync(join(folder, 'tls'))
  for (const [name, file] of Object.entries(FILES)) copyFileSync(file, join(folder, 'tls', name))
  const text = lines.map((line) => `    ${line}\n`).join('')
  const file = join(folder, 'gateway.config.yaml')
  writeFileSync(
    file,
    `tenants: { a: { token: { secrets: ['${'x'.repeat(32)}'] } } }\nupstreams:\n  u:\n${text}`,
  )
  return (await loadConfig(file, {})).upstreams.get('u')
}

const FILES = {
  'ca.pem': CERTIFICATES.files.ca,
  'client.pem': CERTIFICATES.files.client,
  'client.key': CERTIFICATES.files.clientKey,
  'server.key': CERTIFICATES.files.serverKey,
}

async function faultOf(t: Test, lines: readonly string[]): Promise<string> {
  try {
    await upstreamOf(t, lines)
    return 'no fault'
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
}

t.test('defaults, and all settings', async (t) => {
  t.match(await upstreamOf(t, ["targets: ['http://a:1']"]), {
    protocol: 'http1',
    balance: 'least-pending',
    connections: 256,
    uploads: 128,
    evictionDelay: 500,
    maxPending: 1024,
    bodyTimeout: 60_000,
    websocketIdle: 300_000,
    websocketLifetime: 86_400_000,
    health: null,
    tls: null,
  })
  const whole = await upstreamOf(t, [
    "targets: ['https://a:1', 'https://b:1']",
    'balance: round-robin',
    'connections: 8',
    'uploads: 3',
    'eviction_delay: 2s',
    'max_pending: 9',
    'body_timeout: 10s',
    'websocket_idle: 90s',
    'websocket_lifetime: 7d',
    'health: { path: /healthz?deep=1, interval: 2s, timeout: 500ms, healthy: 1, unhealthy: 2 }',
    'tls: { ca: tls/ca.pem, cert: tls/client.pem, key: tls/client.key, server_name: trainings.internal }',
  ])
  t.match(whole, {
    balance: 'round-robin',
    connections: 8,
    uploads: 3,
    evictionDelay: 2000,
    maxPending: 9,
    bodyTimeout: 10_000,
    websocketIdle: 90_000,
    websocketLifetime: 604_800_000,
    health: { path: '/healthz?deep=1', interval: 2000, timeout: 500, healthy: 1, unhealthy: 2 },
    tls: { serverName: 'trainings.internal', insecureSkipVerify: false },
  })
  t.equal(whole?.targets.length, 2)
  t.match(whole?.tls?.cert, /BEGIN CERTIFICATE/)
})

t.test('errors are reported at load, and no key is shown', async (t) => {
  const https = "targets: ['https://a:1']"
  const cases: [string[], RegExp][] = [
    [
      ["targets: ['http://a:1']", 'tls: { ca: tls/ca.pem }'],
      /tls: requires https:\/\/ targets, and a target is http:\/\//,
    ],
    [[https, 'tls: { ca: tls/none.pem }'], /ca: "tls\/none.pem" cannot be read: ENOENT/],
    [[https, 'tls: { ca: tls/client.key }'], /contains no PEM certificate/],
    [[https, 'tls: { cert: tls/client.pem }'], /cert and key must be set together/],
    [[https, 'tls: { cert: tls/client.pem, key: tls/server.key }'], /cannot be parsed or do not match/],
    [[https, 'tls: { server_name: 127.0.0.1 }'], /is not a host name/],
    [[https, 'health: { path: healthz }'], /is not a path such as/],
    [[https, 'health: { path: /a b }'], /is not a path/],
    [[https, 'health: { path: /, interval: 1ms }'], /is too short/],
    [[https, 'health: {}'], /path/],
    [[https, 'balance: random'], /balance/],
    [[https, 'protocol: h3'], /protocol/],
    [[https, 'connections: 0'], /connections/],
    [[https, 'max_pending: 1.5'], /max_pending/],
    [[https, 'websocket_idle: 999ms'], /is too short/],
    [[https, 'websocket_lifetime: 25d'], /is too long/],
  ]
  for (const [lines, expected] of cases) {
    const fault = await faultOf(t, lines)
    t.match(fault, expected)
    t.notMatch(fault, 'PRIVATE')
  }
})

t.test('upload slots are some of the connections', async (t) => {
  const lines = (more: string[]) => ["targets: ['http://a:1']", ...more]
  t.match(await upstreamOf(t, lines(['connections: 3'])), { uploads: 2 })
  t.match(
    await faultOf(t, lines(['connections: 3', 'uploads: 4'])),
    /:\d+:\d+: uploads: must be at most connections \(3\), not 4/,
  )
  t.match(await faultOf(t, lines(['uploads: 0'])), /uploads/)
  t.match(await faultOf(t, lines(['eviction_delay: 1ms'])), /eviction_delay/)
})

t.test('a protocol requires targets of its scheme', async (t) => {
  const [http, https] = ['http://a:1', 'https://b:1']
  const lines = (protocol: string, ...targets: string[]) => [
    `targets: ${JSON.stringify(targets)}`,
    `protocol: ${protocol}`,
  ]
  t.match(await upstreamOf(t, lines('h2', https)), { protocol: 'h2' })
  t.match(await upstreamOf(t, lines('h2c', http)), { protocol: 'h2c' })
  t.match(await upstreamOf(t, lines('http1', http, https)), { protocol: 'http1' })
  t.match(
    await faultOf(t, lines('h2', https, http)),
    /:\d+:\d+: protocol: h2 requires https:\/\/ targets, not "http:\/\/a:1"/,
  )
  t.match(await faultOf(t, lines('h2c', http, https)), /protocol: h2c requires http:\/\/ targets/)
})

t.test('upload slots over HTTP/2 are requests', async (t) => {
  const lines = (more: string[]) => ["targets: ['http://a:1']", 'protocol: h2c', ...more]
  t.match(await upstreamOf(t, lines([])), { connections: 8, maxPending: 1024, uploads: 512 })
  t.match(await upstreamOf(t, lines(['connections: 2', 'uploads: 9'])), { connections: 2, uploads: 9 })
  t.match(
    await faultOf(t, lines(['max_pending: 8', 'uploads: 9'])),
    /uploads: must be at most max_pending \(8\), not 9/,
  )
})
