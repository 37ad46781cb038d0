/**
 * Redis servers in groups: a master watched by sentinels, and a cluster. Both are up when they are given to
 * the test: the sentinels know each other, and the cluster has all slots.
 */

import type { Test } from 'tap'
import { type RedisOptions, type RedisServer, startRedis } from './redis.ts'
import { HARNESS } from './redis-config.ts'
import { until } from '../until.ts'

/** The sentinels' name of the master. */
const NAME = 'main'
const SENTINELS = 3
const SLOTS = 16_384
/** Milliseconds for which a master is silent before it is down for the sentinels. */
const DOWN_AFTER = 500
/**
 * The same of patient sentinels: at first longer than any test, and while a test waits for the failover. A
 * replica is no candidate once it has been without its master for more than ten times as long.
 */
const NOT_DOWN_AFTER = 3_600_000
const DOWN_AFTER_PATIENCE = 5000
/** Milliseconds for a failover. After a stall of two seconds, a sentinel makes none for half a minute. */
const FAILOVER_PATIENCE = 120_000

export interface Sentinels {
  readonly name: string
  readonly members: readonly RedisServer[]
  readonly addresses: readonly { readonly host: string; readonly port: number }[]
  /** Resolves with the port of the master that all running sentinels name, once it is not this one. */
  failedOver(from: number): Promise<number>
}

export interface SentinelOptions extends Pick<RedisOptions, 'password' | 'tls'> {
  /** Whether no master is down for them until the test waits for a failover, even on a busy machine. */
  readonly patient?: boolean
  /** Whether they name the servers `localhost`: Redis 6.2 or later. */
  readonly byName?: boolean
}

/**
 * Starts three sentinels, and two of them decide. A master is down for them when it has been silent for half
 * a second, unless they are patient. With TLS among their options, the master needs it too.
 */
export async function startSentinel(
  t: Test,
  master: RedisServer,
  replicas: readonly RedisServer[],
  options: SentinelOptions = {},
): Promise<Sentinels> {
  const members = await Promise.all(Array.from({ length: SENTINELS }, () => startOne(t, master, options)))
  await Promise.all(members.map((member) => knowsAll(member, replicas.length)))
  return {
    name: NAME,
    members,
    addresses: members.map(({ port }) => ({ host: '127.0.0.1', port })),
    async failedOver(from) {
      if (options.patient === true) await Promise.all(members.map(watch))
      return failedOver(members, [master, ...replicas], from)
    },
  }
}

async function startOne(
  t: Test,
  master: RedisServer,
  { patient = false, byName = false, ...options }: SentinelOptions,
): Promise<RedisServer> {
  const { password } = options
  const sentinel = await startRedis(t, {
    ...options,
    sentinel: true,
    config: [
      ...(byName ? ['sentinel resolve-hostnames yes', 'sentinel announce-hostnames yes'] : []),
      `sentinel monitor ${NAME} ${byName ? 'localhost' : '127.0.0.1'} ${master.port} 2`,
      `sentinel down-after-milliseconds ${NAME} ${patient ? NOT_DOWN_AFTER : DOWN_AFTER}`,
      `sentinel failover-timeout ${NAME} 3000`,
      `sentinel auth-user ${NAME} ${HARNESS.username}`,
      `sentinel auth-pass ${NAME} ${HARNESS.password}`,
      ...(password === undefined ? [] : [`sentinel sentinel-pass ${password}`]),
    ],
  })
  // They meet sooner. Redis 6 cannot be asked to, and takes two seconds.
  await sentinel.command('SENTINEL', 'DEBUG', 'PUBLISH-PERIOD', 100, 'INFO-PERIOD', 200).catch(() => {})
  return sentinel
}

/** Ends the patience of a sentinel. */
async function watch(sentinel: RedisServer): Promise<void> {
  await sentinel.command('SENTINEL', 'SET', NAME, 'down-after-milliseconds', DOWN_AFTER_PATIENCE)
}

async function knowsAll(sentinel: RedisServer, replicas: number): Promise<void> {
  const known = `slaves=${replicas},sentinels=${SENTINELS}`
  const isDone = async () => (await sentinel.info('sentinel'))['master0']?.endsWith(known) === true
  await until(isDone, 'what the sentinels know of each other', { pause: 50 })
}

async function failedOver(
  sentinels: readonly RedisServer[],
  servers: readonly RedisServer[],
  from: number,
): Promise<number> {
  let port = from
  const isDone = async () => {
    const named = new Set(await Promise.all(sentinels.filter((each) => each.running).map(namedBy)))
    port = named.size === 1 ? ([...named][0] ?? from) : from
    return port !== from && (await isMaster(servers.find((server) => server.port === port)))
  }
  await until(isDone, 'another master, chosen by the sentinels', { pause: 50, patience: FAILOVER_PATIENCE })
  return port
}

async function namedBy(sentinel: RedisServer): Promise<number> {
  const address = await sentinel.command('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', NAME)
  return Number((address as string[])[1])
}

async function isMaster(server?: RedisServer): Promise<boolean> {
  // Sentinels end all connections to a server whose part they change.
  const fields = await server?.info('replication').catch(() => undefined)
  return fields?.['role'] === 'master'
}

export interface RedisCluster {
  readonly nodes: readonly RedisServer[]
  readonly addresses: readonly { readonly host: string; readonly port: number }[]
}

/**
 * Three masters with a third of the slots each; one that is silent for a second and a half counts as gone.
 */
export async function startCluster(
  t: Test,
  options: Omit<RedisOptions, 'sentinel' | 'replicaOf'> = {},
): Promise<RedisCluster> {
  const config = ['cluster-enabled yes', 'cluster-node-timeout 1500', ...(options.config ?? [])]
  const nodes = await Promise.all([1, 2, 3].map(() => startRedis(t, { ...options, config })))
  for (const [index, node] of nodes.entries()) {
    await node.command('CLUSTER', 'SET-CONFIG-EPOCH', index + 1)
    await node.command('CLUSTER', 'ADDSLOTS', ...slotsOf(index, nodes.length))
  }
  // Only then: a node that knows another is given no epoch any more. The rest they tell each other.
  const [first, ...others] = nodes
  for (const { port } of others) await first?.command('CLUSTER', 'MEET', '127.0.0.1', port)
  await Promise.all(nodes.map((node) => isWhole(node, nodes.length)))
  return { nodes, addresses: nodes.map(({ port }) => ({ host: '127.0.0.1', port })) }
}

function slotsOf(index: number, count: number): number[] {
  const first = (part: number) => Math.floor((SLOTS * part) / count)
  return Array.from({ length: first(index + 1) - first(index) }, (_, at) => first(index) + at)
}

async function isWhole(node: RedisServer, size: number): Promise<void> {
  const isDone = async () => {
    const text = String(await node.command('CLUSTER', 'INFO'))
    return text.includes('cluster_state:ok') && text.includes(`cluster_known_nodes:${size}`)
  }
  await until(isDone, 'a cluster with all slots', { pause: 50 })
}
