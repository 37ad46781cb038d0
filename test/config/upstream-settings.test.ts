/** Settings of an upstream: several targets, health checks, TLS. */

import { readFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { formatFault } from '../../src/config/faults.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { Folder } from './support.ts'

const FILES = {
  'tls/ca.pem': readFileSync(CERTIFICATES.files.ca),
  'tls/client.pem': readFileSync(CERTIFICATES.files.client),
  'tls/client.key': readFileSync(CERTIFICATES.files.clientKey),
  'tls/server.key': readFileSync(CERTIFICATES.files.serverKey),
}

/** @param lines the upstream's settings, from line 4 on */
function folderOf(t: Test, lines: readonly string[]): Folder {
  const text = lines.map((line) => `    ${line}\n`).join('')
  const tenants = `tenants: { a: { token: { secrets: ['${'x'.repeat(32)}'] } } }\n`
  return new Folder(t, { ...FILES, 'gateway.config.yaml': `${tenants}upstreams:\n  u:\n${text}` })
}

async function upstreamOf(t: Test, lines: readonly string[]) {
  const { config, faults } = await folderOf(t, lines).load()
  if (config === null) throw new Error(faults.map(formatFault).join('\n'))
  return config.upstreams.get('u')
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
  const cases: [string[], string][] = [
    [["targets: ['http://a:1']", 'tls: { ca: tls/ca.pem }'], '5:5'],
    [[https, 'tls: { ca: tls/none.pem }'], '5:16'],
    [[https, 'tls: { ca: tls/client.key }'], '5:16'],
    [[https, 'tls: { cert: tls/client.pem }'], '5:12'],
    [[https, 'tls: { cert: tls/client.pem, key: tls/server.key }'], '5:5'],
    [[https, 'tls: { server_name: 127.0.0.1 }'], '5:25'],
    [[https, 'health: { path: healthz }'], '5:21'],
    [[https, 'health: { path: /a b }'], '5:21'],
    [[https, 'health: { path: /, interval: 1ms }'], '5:34'],
    [[https, 'health: {}'], '5:5'],
    [[https, 'balance: random'], '5:14'],
    [[https, 'protocol: h3'], '5:15'],
    [[https, 'connections: 0'], '5:18'],
    [[https, 'max_pending: 1.5'], '5:18'],
    [[https, 'max_pending: .inf'], '5:18'],
    [[https, 'websocket_idle: 999ms'], '5:21'],
    [[https, 'websocket_lifetime: 25d'], '5:25'],
  ]
  for (const [lines, expected] of cases) {
    t.notMatch(await folderOf(t, lines).faultsAt(t, expected), 'PRIVATE')
  }
})

t.test('upload slots are some of the connections', async (t) => {
  const lines = (more: string[]) => ["targets: ['http://a:1']", ...more]
  t.match(await upstreamOf(t, lines(['connections: 3'])), { uploads: 2 })
  await folderOf(t, lines(['connections: 3', 'uploads: 4'])).faultsAt(t, '6:14')
  await folderOf(t, lines(['uploads: 0'])).faultsAt(t, '5:14')
  await folderOf(t, lines(['eviction_delay: 1ms'])).faultsAt(t, '5:21')
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
  await folderOf(t, lines('h2', https, http)).faultsAt(t, '5:15')
  await folderOf(t, lines('h2c', http, https)).faultsAt(t, '5:15')
})

t.test('upload slots over HTTP/2 are requests', async (t) => {
  const lines = (more: string[]) => ["targets: ['http://a:1']", 'protocol: h2c', ...more]
  t.match(await upstreamOf(t, lines([])), { connections: 8, maxPending: 1024, uploads: 512 })
  t.match(await upstreamOf(t, lines(['connections: 2', 'uploads: 9'])), { connections: 2, uploads: 9 })
  await folderOf(t, lines(['max_pending: 8', 'uploads: 9'])).faultsAt(t, '7:14')
})

t.test('a target with a path is told where paths belong', async (t) => {
  for (const target of ['http://a:1/api', 'https://a/v1/x?y'])
    await folderOf(t, [`targets: ['${target}']`]).faultsAt(t, '4:15')
  await folderOf(t, ["targets: ['http://a:1/']"]).faultsAt(t, '4:15')
})
