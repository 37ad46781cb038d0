/** Messages, cached values and the tokens of rate limits in every Redis mode: plain, with password and ACL, TLS, sentinels, a cluster. */

import { createServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { SeatQuestion } from '../../src/model/decision-seat.ts'
import type { RedisConfig } from '../../src/config/config.ts'
import { redisUrl } from '../../src/config/redis-settings.ts'
import type { OpenCounts } from '../../seats-admin/model/revocation.ts'
import { RedisBus } from '../../src/redis/redis-bus.ts'
import { connectRedis, connectSubscriber } from '../../src/redis/connect.ts'
import { COMMAND_TIMEOUT } from '../../src/redis/redis-connection.ts'
import { RedisEphemeral } from '../../src/redis/redis-sign-ins.ts'
import { Keys } from '../../src/redis/keys.ts'
import { Seal } from '../../src/redis/redis-seal.ts'
import { SeatCache } from '../../src/redis/seat-cache.ts'
import { TokenLender } from '../../src/redis/token-lender.ts'
import { listen } from '../support/listen.ts'
import { startCluster, startSentinel } from '../support/servers/redis-groups.ts'
import { startRedis } from '../support/servers/redis.ts'
import { CERTIFICATES } from '../support/servers/tls.ts'
import { until } from '../support/until.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const seal = new Seal([new Uint8Array(32).fill(7)])
const keys = new Keys('modes:')
const LIMIT = { name: 'writes', limit: 1, window: 3_600_000, burst: 100, per: 'caller' } as const
const QUESTION = new SeatQuestion('s1', 'a:b')

function configOf(url: string): RedisConfig {
  const config = redisUrl(url, HERE)
  if (config instanceof InvalidValue) throw new Error(config.message)
  return config
}

function countingStore() {
  const store = {
    reads: 0,
    grantByName: async () => ({ seq: 1, mark: 1, value: { seat: null, givenUpAt: null } }),
    spacesByName: async () => ({ seq: 1, mark: 1, value: null }),
    seatById: async () => ({ seq: 1, mark: 1, value: null }),
    grantById: async (_tenant: string, id: string) => {
      store.reads++
      return {
        seq: 1,
        mark: 1,
        value: { id, name: 'Viewer', spaces: ['s1'], permissions: ['a:b'], complete: true },
      }
    },
    apiKeyById: async () => ({ seq: 1, mark: 1, value: null }),
  }
  return store
}

/** Longer than any test. */
const NEVER = 60_000

/** @param timeouts ms until a command fails, and until a silent connection is closed */
function instanceOn(t: Test, config: RedisConfig, id: string, timeouts: [number, number?] = [NEVER, NEVER]) {
  const received: unknown[] = []
  const connection = connectRedis(config, () => {}, ...timeouts)
  const bus = new RedisBus(
    connection,
    connectSubscriber(config, connection, () => {}),
    keys,
    seal,
  )
  bus.open(id, { announced: (it) => received.push(it), acknowledged: (it) => received.push(it) })
  const store = countingStore()
  const cache = new SeatCache(store, { connection, keys, seal }, { isCurrent: () => true }, Date.now)
  const ephemeral = new RedisEphemeral(() => connectRedis(config, () => {}, ...timeouts), keys)
  const lender = new TokenLender(
    connection,
    keys,
    () => performance.now(),
    () => {},
  )
  t.teardown(async () => {
    ephemeral.close()
    await bus.close()
  })
  return { bus, received, cache, store, ephemeral, lender }
}

const addressed = (nodes: readonly { host: string; port: number }[]) =>
  nodes.map(({ host, port }) => `${host}:${port}`).join(',')

async function works(t: Test, url: string): Promise<void> {
  const config = configOf(url)
  const [one, two] = [instanceOn(t, config, 'one'), instanceOn(t, config, 'two')]
  await until(() => one.bus.up && two.bus.up, 'the connection of both buses')
  const change = { seq: 1, mark: 2, tenant: 'acme', kind: 'seat', key: 'ä\0"' } as const
  one.bus.announce({ from: 'one', number: 1, seq: 1, changes: [change] })
  await until(() => two.received.length === 1, 'the announcement')
  t.same(two.received, [{ from: 'one', number: 1, seq: 1, changes: [change] }])
  two.bus.acknowledge({ to: 'one', from: 'two', number: 1 })
  await until(() => one.received.length === 1, 'the acknowledgement')
  t.same(one.received, [{ to: 'one', from: 'two', number: 1 }])
  const ends = { from: 'two', number: 2, to: 'one' }
  for (const cut of [{ websockets: 1, streams: 0, requests: 2 }, null]) two.bus.acknowledge({ ...ends, cut })
  for (const cut of [{ websockets: -1, streams: 0, requests: 2 }, { websockets: 1 }, 'all'])
    two.bus.acknowledge({ ...ends, cut: cut as OpenCounts })
  await until(() => one.received.length === 6, 'what was cut')
  const texts = (messages: readonly unknown[]) => messages.map((each) => JSON.stringify(each)).sort()
  // Of a cluster, each message may pass another node.
  t.same(
    texts(one.received.slice(1)),
    texts([
      { ...ends, cut: { websockets: 1, streams: 0, requests: 2 } },
      { ...ends, cut: null },
      ends,
      ends,
      ends,
    ]),
    'counts that are none are left out',
  )

  t.equal((await one.cache.grantById('acme', 'a', QUESTION)).source, 'store')
  await until(
    async () => (await two.cache.grantById('acme', 'a', QUESTION)).source === 'redis',
    'a value from Redis',
  )

  const loan = {
    limit: LIMIT,
    owner: 'acme',
    need: 1,
    extra: 0,
    back: 0,
    debit: 0,
    initial: 100,
    processes: 2,
  }
  for (const key of ['alice', 'bob', 'carol'])
    for (const [at, { lender }] of [one, two].entries())
      t.match(await lender.exchange({ ...loan, key }), { granted: 1, left: Number }, `${key} ${at}`)
  t.match(await one.lender.exchange({ ...loan, key: 'alice', need: 200 }), { granted: 98 }, 'one bucket')

  const epochs = await Promise.all([one, two, one].map(({ ephemeral }) => ephemeral.epoch()))
  t.match(epochs, Array(3).fill(/^[\w-]{8}$/))
  const [epoch = ''] = epochs
  t.equal(new Set(epochs).size, 1, 'all instances have the same epoch')
  const used = await Promise.all(
    [one, two, one, two].map(({ ephemeral }) => ephemeral.use('acme', epoch, 'id', 60_000)),
  )
  t.same(used.filter(Boolean), [true], 'used once')
  t.equal(await two.ephemeral.use('acme', 'AAAAAAAA', 'other', 60_000), false, 'another epoch')
}

t.test('plain, with a database number', async (t) => {
  const server = await startRedis(t)
  await works(t, `${server.url}/3`)
})

t.test('an ACL user with the required permissions only', async (t) => {
  const server = await startRedis(t)
  const rules = ['on', '>p@ss:word', '~modes:*', '&modes:*', '-@all']
  const commands = ['get', 'set', 'publish', 'subscribe', 'ping', 'info', 'select', 'client', 'hello', 'auth']
  commands.push('eval', 'evalsha', 'time', 'del') // Of rate limits.
  await server.command('ACL', 'SETUSER', 'gate', ...rules, ...commands.map((name) => `+${name}`))
  await works(t, server.url.replace('redis://', 'redis://gate:p%40ss%3Aword@'))
})

t.test('TLS with a client certificate and a private CA', async (t) => {
  const server = await startRedis(t, { tls: 'mutual' })
  const { ca, client, clientKey } = CERTIFICATES.files
  await works(t, `rediss://127.0.0.1:${server.port}?ca=${ca}&cert=${client}&key=${clientKey}`)
})

t.test('TLS with an unknown CA is refused', async (t) => {
  const server = await startRedis(t, { tls: 'server' })
  const causes: string[] = []
  const connection = connectRedis(configOf(`rediss://127.0.0.1:${server.port}`), ({ message }) =>
    causes.push(message),
  )
  t.teardown(() => connection.disconnect())
  // On a slow machine the handshake may take too long first.
  await until(
    () => causes.some((each) => each.includes('certificate')),
    () => `the certificate is not refused: ${causes.join()}`,
  )
  t.not(connection.status, 'ready')
})

t.test(
  'a server that never completes the TLS handshake, and sends bytes of it all the time, is given up',
  async (t) => {
    const server = createServer((socket) => {
      socket.on('error', () => {})
      // The beginning of a handshake record of 16 KiB.
      socket.write(Buffer.from([22, 3, 3, 64, 0]))
      const sending = setInterval(() => socket.write(Buffer.from([2])), 50)
      socket.on('close', () => clearInterval(sending))
    })
    const port = await listen(t, server)
    const causes: unknown[] = []
    const connection = connectRedis(configOf(`rediss://127.0.0.1:${port}`), (cause) => causes.push(cause))
    t.teardown(() => connection.disconnect())
    await until(() => causes.length > 1, 'a second attempt that is given up')
    t.match(causes[1], { code: 'ETIMEDOUT' })
  },
)

t.test('sentinels: the master, and the new master after a failover', async (t) => {
  const master = await startRedis(t)
  const replica = await startRedis(t, { replicaOf: master })
  const sentinels = await startSentinel(t, master, [replica], { patient: true })
  const hosts = addressed(sentinels.addresses)
  const url = `redis+sentinel://${hosts}/${sentinels.name}`
  await works(t, url)
  const one = instanceOn(t, configOf(url), 'three')
  await until(() => one.bus.up, 'the bus')
  master.kill()
  await sentinels.failedOver(master.port)
  await until(() => one.bus.up, 'the bus')
  t.equal((await one.cache.grantById('acme', 'b', QUESTION)).source, 'store')
  await until(
    async () => (await one.cache.grantById('acme', 'b', QUESTION)).source === 'redis',
    'a value from Redis',
  )
})

t.test('a cluster', async (t) => {
  // No node counts as gone here, however long a busy machine keeps it silent.
  const cluster = await startCluster(t, { config: ['cluster-node-timeout 60000'] })
  const hosts = addressed(cluster.addresses)
  await works(t, `redis+cluster://${hosts}`)
})

t.test(
  'a frozen Redis costs one timeout, not one for each request; it is used again once it thaws',
  async (t) => {
    const server = await startRedis(t)
    const { cache, store, bus } = instanceOn(t, configOf(server.url), 'one', [COMMAND_TIMEOUT])
    await until(() => bus.up, 'the bus')
    await cache.grantById('acme', 'a', QUESTION)
    await until(
      async () => (await cache.grantById('acme', 'a', QUESTION)).source === 'redis',
      'a value from Redis',
    )
    await server.freeze()
    store.reads = 0
    for (let i = 0; i < 200; i++)
      t.equal((await cache.grantById('acme', `new ${i}`, QUESTION)).source, 'store')
    t.equal(store.reads, 200)
    await until(() => !bus.up, 'the loss of the bus')
    await server.thaw()
    await until(
      async () => (await cache.grantById('acme', 'a', QUESTION)).source === 'redis',
      'a value from Redis',
    )
    await until(() => bus.up, 'the bus')
  },
)

t.test('a Redis that is down at the start is used once it is up', async (t) => {
  const server = await startRedis(t)
  await server.kill()
  const { cache, bus } = instanceOn(t, configOf(server.url), 'one')
  t.equal((await cache.grantById('acme', 'a', QUESTION)).source, 'store')
  t.equal(bus.up, false)
  await server.restart()
  await until(() => bus.up, 'the bus')
  await until(
    async () => (await cache.grantById('acme', 'a', QUESTION)).source === 'redis',
    'a value from Redis',
  )
})
