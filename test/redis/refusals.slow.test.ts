/**
 * A Redis behind one address that refuses: demoted, full, loading, or by its access list. Its connections stay open. The
 * gateway says so, connects again, and goes on with the server that is behind the address then.
 */

import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { redisUrl } from '../../src/config/redis-settings.ts'
import { InvalidValue } from '../../src/config/invalid-value.ts'
import { RedisBus } from '../../src/redis/redis-bus.ts'
import { connectRedis, connectSubscriber } from '../../src/redis/connect.ts'
import { RedisEphemeral, SIGN_IN_TIMEOUT } from '../../src/redis/redis-sign-ins.ts'
import { RedisHealth } from '../../src/redis/redis-health.ts'
import { Keys } from '../../src/redis/keys.ts'
import { commandOf, isRedisRefusal, wordOf } from '../../src/redis/redis-errors.ts'
import { Seal } from '../../src/redis/redis-seal.ts'
import { startTcpProxy } from '../support/servers/proxy.ts'
import { startCluster } from '../support/servers/redis-groups.ts'
import { startRedis, type RedisServer } from '../support/servers/redis.ts'
import { until } from '../support/until.ts'

const HERE = fileURLToPath(new URL('.', import.meta.url))
const keys = new Keys('refusals:')
// Each test has servers of its own, and waits for the probes most of the time.
t.jobs = 4
const MINUTE = 60_000

/** What a gateway has of Redis, with all that it reports. */
function gatewayOn(t: Test, url: string) {
  const config = redisUrl(url, HERE)
  if (config instanceof InvalidValue) throw new Error(config.message)
  const refusals = new Set<string>()
  const report = (cause: Error) => {
    if (!isRedisRefusal(cause)) return
    health?.refused()
    refusals.add(`${wordOf(cause)} ${commandOf(cause)}`)
  }
  let health: RedisHealth | null = null
  const connection = connectRedis(config, report, SIGN_IN_TIMEOUT)
  const seal = new Seal([new Uint8Array(32).fill(7)])
  const bus = new RedisBus(connection, connectSubscriber(config, connection, report), keys, seal)
  bus.open('one', { announced: () => {}, acknowledged: () => {} })
  health = new RedisHealth(connection, keys, bus)
  const { up, down } = statesOf(health, refusals)
  const ephemeral = new RedisEphemeral(() => connectRedis(config, report, SIGN_IN_TIMEOUT), keys)
  t.teardown(async () => {
    health?.close()
    ephemeral.close()
    await bus.close()
  })
  return { up, down, ephemeral, refusals }
}

function statesOf(health: RedisHealth, refusals: ReadonlySet<string>) {
  const said = () => [...refusals].join(', ')
  return {
    up: () =>
      until(
        () => health.up,
        () => `Redis is not up again: ${said()}`,
      ),
    down: (refusal: string) =>
      until(
        () => !health.up && refusals.has(refusal),
        () => `no ${refusal}, but ${said()}`,
      ),
  }
}

async function twoServers(t: Test) {
  const [first, second] = await Promise.all([startRedis(t), startRedis(t)])
  const proxy = await startTcpProxy(t, first)
  const gateway = gatewayOn(t, `redis://127.0.0.1:${proxy.port}`)
  await gateway.up()
  return { first, second, proxy, ...gateway }
}

t.test('the server behind the address is demoted, and its connections stay open', async (t) => {
  const { first, second, proxy, up, ephemeral, refusals } = await twoServers(t)
  const before = await ephemeral.epoch()
  t.equal(await ephemeral.use('acme', before, 'one', MINUTE), true)
  await second.command('REPLICAOF', '127.0.0.1', first.port)
  const isLinked = async () => (await second.info('replication'))['master_link_status'] === 'up'
  await until(isLinked, 'the replica')
  await second.command('REPLICAOF', 'NO', 'ONE')
  proxy.lead(second)
  await first.command('REPLICAOF', '127.0.0.1', second.port)

  t.equal(await ephemeral.use('acme', before, 'two', MINUTE), true, 'a sign-in completes at once')
  t.equal(await ephemeral.use('acme', before, 'one', MINUTE), false, 'and no sign-in twice')
  await until(() => refusals.has('READONLY SET'), 'a report')
  await up()
  t.equal(await second.command('GET', keys.usedSignIn('acme', 'two')), '1')
})

t.test('a replica that has lost its master', async (t) => {
  const { first, second, proxy, up, down, ephemeral } = await twoServers(t)
  await first.command('CONFIG', 'SET', 'replica-serve-stale-data', 'no')
  await first.command('REPLICAOF', '127.0.0.1', 1)
  await down('MASTERDOWN GET')
  await t.rejects(ephemeral.epoch())
  proxy.lead(second)
  await up()
  t.match(await ephemeral.epoch(), /^[\w-]{8}$/)
})

t.test('a full memory: reads work, and writes do not', async (t) => {
  const { first, second, proxy, up, down } = await twoServers(t)
  await first.command('CONFIG', 'SET', 'maxmemory', 1)
  await down('OOM SET')
  await first.command('CONFIG', 'SET', 'maxmemory', 0)
  await up()
  await first.command('CONFIG', 'SET', 'maxmemory', 1)
  await down('OOM SET')
  proxy.lead(second)
  await up()
})

t.test('too few replicas', async (t) => {
  const { first, up, down } = await twoServers(t)
  await first.command('CONFIG', 'SET', 'min-replicas-to-write', 1)
  await down('NOREPLICAS SET')
  await first.command('CONFIG', 'SET', 'min-replicas-to-write', 0)
  await up()
})

t.test('a server that loads its data', async (t) => {
  const config = ['loading-process-events-interval-bytes 1024']
  const server = await startRedis(t, { config })
  const { up, down } = gatewayOn(t, server.url)
  await up()
  await server.command('CONFIG', 'SET', 'key-load-delay', 4000)
  await server.command('CONFIG', 'REWRITE')
  for (let at = 0; at < 1000; at++) await server.command('SET', `filler:${at}`, 'x'.repeat(100))
  await server.restart()
  await down('LOADING GET')
  await up()
})

const ALL = '~* &* +@all'
const lists = [
  { title: 'the key', rules: 'resetkeys ~other:*', refusal: 'NOPERM GET' },
  { title: 'one kind of key', rules: 'resetkeys ~refusals:seat*', refusal: 'NOPERM GET' },
  { title: 'writes', rules: '-set', refusal: 'NOPERM SET' },
  { title: 'the channel', rules: 'resetchannels &other:*', refusal: 'NOPERM PUBLISH' },
  { title: 'subscriptions', rules: '-subscribe', refusal: 'NOPERM SUBSCRIBE', reconnects: true },
]
for (const { title, rules, refusal, reconnects = false } of lists)
  t.test(`an access list without ${title}`, async (t) => {
    const server = await startRedis(t, { user: { name: 'gate', password: 'p', rules: ALL } })
    const { up, down } = gatewayOn(t, server.url)
    await up()
    await server.command('ACL', 'SETUSER', 'gate', ...rules.split(' '))
    if (reconnects) await server.command('CLIENT', 'KILL', 'TYPE', 'pubsub')
    await down(refusal)
    await server.command('ACL', 'SETUSER', 'gate', ...ALL.split(' '))
    await up()
  })

t.test('a subscription to a server that no longer gets the messages', async (t) => {
  const { first, second, proxy, up, refusals } = await twoServers(t)
  proxy.lead(second)
  await killPublisher(first)
  const subscribers = async () => (await second.command('PUBSUB', 'NUMSUB', keys.announcements)) as unknown[]
  await until(async () => (await subscribers())[1] === 1, 'a subscription to the server of the messages')
  await up()
  t.same([...refusals], [])
})

/** Ends the connections that are not the subscriber's. */
async function killPublisher(server: RedisServer): Promise<void> {
  await server.command('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
}

t.test('a cluster that lost a node, and with it its slots', async (t) => {
  const { nodes, addresses } = await startCluster(t)
  const { up, down } = gatewayOn(
    t,
    `redis+cluster://${addresses.map(({ port }) => `127.0.0.1:${port}`).join(',')}`,
  )
  await up()
  await nodes[2]?.kill()
  await down('CLUSTERDOWN GET')
  await nodes[2]?.restart()
  await up()
})
