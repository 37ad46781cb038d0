/** Redis in groups, on real servers: the sentinels really fail over, and the cluster really spreads its keys. */

import { Cluster, Redis } from 'ioredis'
import t from 'tap'
import { startRedis } from './redis.ts'
import { startCluster, startSentinel } from './redis-groups.ts'
import { CERTIFICATES } from './tls.ts'
import { until } from '../until.ts'

t.test('sentinels choose another master, and a client follows', async (t) => {
  const master = await startRedis(t, { password: 'secret' })
  const options = { password: 'secret', replicaOf: master }
  const replicas = [await startRedis(t, options), await startRedis(t, options)]
  const { name, addresses, failedOver } = await startSentinel(t, master, replicas)
  const client = new Redis({ sentinels: [...addresses], name, password: 'secret' })
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  await client.set('kept', 'yes')
  await client.wait(2, 0)
  await master.kill()
  const isReplica = (port: number | undefined) => replicas.some((replica) => replica.port === port)
  t.ok(isReplica(await failedOver(master.port)))
  t.equal(await client.get('kept'), 'yes')
  // On a busy machine they may have chosen again meanwhile; only a master takes a write.
  t.ok(isReplica(client.stream.remotePort))
  t.equal(await client.set('kept', 'still'), 'OK')
})

t.test('sentinels fail over a master that is frozen, and take it back as a replica', async (t) => {
  const master = await startRedis(t)
  const replica = await startRedis(t, { replicaOf: master })
  const { failedOver } = await startSentinel(t, master, [replica])
  await master.freeze()
  t.equal(await failedOver(master.port), replica.port)
  master.thaw()
  // The sentinels end all its connections when they tell it.
  const follows = () => master.info('replication').catch(() => ({ master_port: undefined }))
  await until(
    async () => (await follows()).master_port === String(replica.port),
    () => master.log,
  )
})

t.test('a cluster has all slots, and a key on each node', async (t) => {
  const { nodes, addresses } = await startCluster(t)
  const client = new Cluster([...addresses])
  client.on('error', () => {})
  t.teardown(() => client.disconnect())
  for (let key = 0; key < 50; key++) t.equal(await client.set(`key:${key}`, key), 'OK')
  const sizes = await Promise.all(nodes.map((node) => node.command('DBSIZE').then(Number)))
  t.equal(
    sizes.reduce((sum, size) => sum + size),
    50,
  )
  t.ok(sizes.every((size) => size > 0))
})

t.test('sentinels and clusters with TLS and passwords', async (t) => {
  const [secret, tls] = [{ password: 'secret', tls: 'server' } as const, { ca: CERTIFICATES.client.ca }]
  const master = await startRedis(t, secret)
  const { name, addresses } = await startSentinel(t, master, [], { password: 'other', tls: 'server' })
  const { addresses: nodes } = await startCluster(t, secret)
  const shared = { name, tls, password: 'secret', sentinelTLS: tls, enableTLSForSentinelMode: true }
  const clients = [
    new Redis({ sentinels: [...addresses], sentinelPassword: 'other', ...shared }),
    new Cluster([...nodes], { redisOptions: { tls, password: 'secret' } }),
  ]
  t.teardown(() => clients.map((client) => client.disconnect()))
  for (const client of clients) client.on('error', () => {})
  for (const client of clients) t.equal(await client.set('a', 'b'), 'OK')
})
