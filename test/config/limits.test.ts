/** `limits:`, `memory:` and other limits of clients: parsed and bounded, with clear errors. */

import t from 'tap'
import { DEFAULT_LIMITS, DEFAULT_MEMORY } from '../support/default-settings.ts'
import { pack, unpack } from '../../src/config/worker-copy.ts'
import { BASE, configOf, Folder, faultsAt } from './support.ts'

t.test('defaults', async (t) => {
  const config = await configOf(t, BASE)
  t.same(config.limits, {
    headerBytes: 32768,
    headerFields: 200,
    targetBytes: 8192,
    headerTimeout: 10_000,
    idleTimeout: 75_000,
    bodyTimeout: 60_000,
    lingeringTime: 30_000,
    lingeringTimeout: 5000,
    lingeringConnections: 256,
    maxBody: 10_485_760,
    connections: 10_000,
    connectionsPerAddress: 10_000,
    connectionsPerTenant: 10_000,
    http2Streams: 128,
    websockets: 7500,
    websocketsPerTenant: 7500,
    websocketsPerCaller: 468,
    seatBytes: 65_536,
  })
  t.equal(config?.auditRetention, 400 * 86_400_000)
  t.match(config, { drain: 30_000, drainDelay: 0, proxyProtocol: false })
  t.same((await configOf(t, `${BASE}limits: {}\n`)).limits, DEFAULT_LIMITS)
  t.same(config.memory, {
    tokens: 33_554_432,
    apiKeys: 8_388_608,
    seats: 67_108_864,
    connections: 134_217_728,
    identities: 33_554_432,
  })
  t.same((await configOf(t, `${BASE}memory: {}\n`)).memory, DEFAULT_MEMORY)
})

const ALL = `limits:
  header_bytes: 64KiB
  header_fields: 100
  target_bytes: 16KiB
  header_timeout: 5s
  idle_timeout: 2m
  body_timeout: 20s
  lingering_time: 10s
  lingering_timeout: 0s
  lingering_connections: 9
  max_body: unlimited
  connections: 500
  connections_per_address: 100
  connections_per_tenant: 400
  http2_streams: 64
  websockets: 300
  websockets_per_tenant: 200
  websockets_per_caller: 10
drain_delay: 5s
`

t.test('all settings, and the defaults derived from them', async (t) => {
  const folder = new Folder(t, {
    'gateway.config.yaml': `${BASE}${ALL}routes: [a.yaml]\n`,
    'a.yaml':
      'upstream: main\nroutes:\n  GET /a: public\n  POST /a: { permission: public, max_body: 1KiB }\n',
  })
  const { config } = await folder.load()
  t.same(config?.limits, {
    headerBytes: 65536,
    headerFields: 100,
    targetBytes: 16384,
    headerTimeout: 5000,
    idleTimeout: 120_000,
    bodyTimeout: 20_000,
    lingeringTime: 10_000,
    lingeringTimeout: 0,
    lingeringConnections: 9,
    maxBody: Infinity,
    connections: 500,
    connectionsPerAddress: 100,
    connectionsPerTenant: 400,
    http2Streams: 64,
    websockets: 300,
    websocketsPerTenant: 200,
    websocketsPerCaller: 10,
    seatBytes: 65_536,
  })
  t.equal(config?.drainDelay, 5000)
  t.equal(config?.upstreams.get('main')?.bodyTimeout, 20_000, 'an upstream without settings of its own')
  t.same(
    config?.routes.map(({ maxBody }) => maxBody),
    [Infinity, 1024],
    'a route without settings of its own',
  )
  t.same(
    (unpack(structuredClone(pack(config as NonNullable<typeof config>))) as typeof config)?.limits,
    config?.limits,
  )
})

t.test('omitted shares of connections follow the number of connections', async (t) => {
  const of = async (limits: string, base = BASE) => {
    const { limits: found } = await configOf(t, `${base}limits: { ${limits} }\n`)
    const { connectionsPerTenant, websockets, websocketsPerTenant, websocketsPerCaller } = found
    return [connectionsPerTenant, websockets, websocketsPerTenant, websocketsPerCaller]
  }
  t.same(await of('connections: 1000'), [1000, 750, 750, 46])
  t.same(await of('connections: 100'), [100, 75, 75, 16])
  t.same(await of('connections: 16'), [16, 12, 12, 12])
  t.same(await of('connections: 1'), [1, 0, 0, 0])
  t.same(await of('connections: 1000, websockets: 100'), [1000, 100, 100, 16])
  const secret = "secrets: ['another secret of more than thirty-two bytes']"
  const two = BASE.replace('tenants: {', `tenants: { globex: { token: { ${secret} } },`)
  t.same(await of('connections: 1000', two), [750, 750, 562, 35], 'each of several tenants has a share')
})

t.test('an upstream has its own body_timeout', async (t) => {
  const own = BASE.replace("9001'] }", "9001'], body_timeout: 5s }")
  t.equal(
    (await configOf(t, `${own}limits: { body_timeout: 9s }\n`)).upstreams.get('main')?.bodyTimeout,
    5000,
  )
})

t.test('memory, each setting alone', async (t) => {
  const { memory } = await configOf(t, `${BASE}memory: { tokens: 64MiB, seats: 1GiB }\n`)
  t.same(memory, { ...DEFAULT_MEMORY, tokens: 67_108_864, seats: 1_073_741_824 })
  t.equal((await configOf(t, `${BASE}memory: { api_keys: 1MiB }\n`)).memory.apiKeys, 1_048_576)
})

t.test('invalid settings', async (t) => {
  const cases: [string, string][] = [
    ['limits: []', '3:9'],
    ['limits: { header_byte: 1KiB }', '3:11'],
    ['limits: { header_bytes: 512B }', '3:25'],
    ['limits: { header_bytes: 2MiB }', '3:25'],
    ['limits: { header_bytes: 32768 }', '3:25'],
    ['limits: { header_bytes: 32KB }', '3:25'],
    ['limits: { header_fields: 9 }', '3:26'],
    ['limits: { header_fields: 2001 }', '3:26'],
    ['limits: { target_bytes: 100B }', '3:25'],
    ['limits: { target_bytes: 1MiB }', '3:25'],
    ['limits: { header_bytes: 4KiB }', '3:25'],
    ['limits: { header_bytes: 8KiB, target_bytes: 9KiB }', '3:45'],
    ['limits: { header_timeout: 500ms }', '3:27'],
    ['limits: { header_timeout: 11m }', '3:27'],
    ['limits: { idle_timeout: 0s }', '3:25'],
    ['limits: { idle_timeout: 25h }', '3:25'],
    ['limits: { body_timeout: 0s }', '3:25'],
    ['limits: { max_body: all }', '3:21'],
    ['limits: { max_body: 10 }', '3:21'],
    ['limits: { connections: 0 }', '3:24'],
    ['limits: { connections: 1000001 }', '3:24'],
    ['limits: { connections: many }', '3:24'],
    ['limits: { connections: 9, connections_per_address: 0 }', '3:52'],
    ['limits: { connections: 9, connections_per_address: 10 }', '3:52'],
    ['limits: { connections_per_tenant: 10001 }', '3:35'],
    ['limits: { connections: 9, websockets: 9 }', '3:39'],
    ['limits: { websockets: -1 }', '3:23'],
    ['limits: { websockets_per_tenant: 7501 }', '3:34'],
    ['limits: { websockets: 5, websockets_per_caller: 6 }', '3:49'],
    ['memory: 32MiB', '3:9'],
    ['memory: { token: 1MiB }', '3:11'],
    ['memory: { tokens: 1000 }', '3:19'],
    ['memory: { tokens: 0B }', '3:19'],
    ['memory: { api_keys: 900KiB }', '3:21'],
    ['memory: { seats: 5GiB }', '3:18'],
    ['memory: { connections: 1KiB }', '3:24'],
    ['memory: { seats: unlimited }', '3:18'],
    ['drain_delay: 2h', '3:14'],
    ['drain_delay: 5', '3:14'],
    ['proxy_protocol: yes', '3:17'],
    ['proxy_protocol: true', '3:17'],
  ]
  for (const [line, expected] of cases) {
    await faultsAt(t, `${BASE}${line}\n`, expected)
  }
})

t.test('the PROXY protocol from trusted peers', async (t) => {
  const text = `${BASE}trusted_proxies: [10.0.0.0/8]\nproxy_protocol: true\n`
  t.match(await configOf(t, text), { proxyProtocol: true, trustedProxies: ['10.0.0.0/8'] })
})
