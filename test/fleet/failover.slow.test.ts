/**
 * Redis fails over. Gateways do not accept the outdated values of a replica without the last writes, and leave a server
 * that was demoted behind its address.
 */

import t, { type Test } from 'tap'
import { type RedisServer, startRedis } from '../support/servers/redis.ts'
import { startSentinel } from '../support/servers/redis-groups.ts'
import { until } from '../support/until.ts'
import { underLoad } from './checker.ts'
import { startFleet } from './fleet.ts'
import type { FleetGateway } from './gateway.ts'

const REPLICATION = { name: 'replication', password: 'for-replicas-alone' }

t.test('failover to a replica that lost writes', async (t) => {
  const master = await startRedis(t)
  const replica = await startReplica(t, master)
  const sentinels = await startSentinel(t, master, [replica], { patient: true })
  const hosts = sentinels.addresses.map(({ host, port }) => `${host}:${port}`).join(',')
  const fleet = await startFleet(t, { redis: { url: `redis+sentinel://${hosts}/${sentinels.name}` } })

  await underLoad(t, 'failover to a replica that lost writes', fleet, async (load) => {
    await load.written(40)
    await cutReplication(master)
    await master.command('SET', 'written-after-the-cut', '1')
    await load.written(20)
    const kept = Number(await master.command('DBSIZE'))
    await master.kill()
    t.equal(await sentinels.failedOver(master.port), replica.port)
    t.equal(await replica.command('GET', 'written-after-the-cut'), null, 'the replica lacks the last write')
    t.comment(`values in the lost master: ${kept}, in the replica: ${await replica.command('DBSIZE')}`)
    await load.written(40)
    for (const gateway of fleet.gateways) await isBack(gateway)
    await load.written(40)
  })
})

t.test('failover behind one address: the old master is demoted, and its connections stay open', async (t) => {
  const fleet = await startFleet(t, { proxies: ['redis'] })
  const replica = await startRedis(t, { replicaOf: fleet.redis })
  const linked = async () => (await replica.info('replication'))['master_link_status'] === 'up'
  await until(linked, () => 'the replica does not find its master')

  await underLoad(t, 'failover behind one address', fleet, async (load) => {
    await load.written(20)
    for (const { toRedis } of fleet.gateways) toRedis?.lead(replica)
    await replica.command('REPLICAOF', 'NO', 'ONE')
    await fleet.redis.command('REPLICAOF', '127.0.0.1', replica.port)
    await load.written(40)
    await until(
      async () => (await commandConnections(fleet.redis)) === 0,
      'the end of all connections for commands to the demoted server',
    )
    // A connection that a stall of the machine has broken is made anew without this reply.
    await until(
      () => fleet.gateways.some(({ log }) => /"command":"\w+","reply":"READONLY"/.test(log)),
      'a line of the log that names command and reply',
    )
    for (const gateway of fleet.gateways) await isBack(gateway)
    // It had the subscriptions: as a replica it has the messages too.
    await fleet.redis.kill()
    await load.written(20)
    for (const gateway of fleet.gateways) await isBack(gateway)
  })
})

/** Waits until the gateway uses a master for reads, writes and messages. */
function isBack(gateway: FleetGateway): Promise<void> {
  const back = async () => (await gateway.ready())['redis'] === 'ok'
  const what = () => `gateway ${gateway.name} does not find the new master:\n${gateway.remarks}`
  return until(back, what, { pause: 50 })
}

/** Number of the gateways' connections, other than those for messages. */
async function commandConnections(server: RedisServer): Promise<number> {
  const clients = String(await server.command('CLIENT', 'LIST', 'TYPE', 'normal'))
  return clients.split('\n').filter((client) => client.includes(' name=seatgate ')).length
}

/** Starts a replica that uses an account of its own, so that replication can be cut. */
async function startReplica(t: Test, master: RedisServer): Promise<RedisServer> {
  const { name, password } = REPLICATION
  await master.command('ACL', 'SETUSER', name, 'on', `>${password}`, '~*', '&*', '+@all')
  const replica = await startRedis(t, { replicaOf: master })
  await replica.command('CONFIG', 'SET', 'masteruser', name, 'masterauth', password)
  await master.command('CLIENT', 'KILL', 'TYPE', 'replica')
  const linked = async () => (await replica.info('replication'))['master_link_status'] === 'up'
  await until(linked, () => 'the replica does not find its master')
  return replica
}

async function cutReplication(master: RedisServer): Promise<void> {
  await master.command('ACL', 'SETUSER', REPLICATION.name, 'off')
  await master.command('CLIENT', 'KILL', 'TYPE', 'replica')
}
