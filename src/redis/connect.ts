/**
 * Connections to Redis or Valkey, with every wait bounded: ioredis' own defaults wait over 12 s on a frozen server.
 * Redis is never the truth, so nothing here is worth waiting for. Each socket has a guard (`guard.ts`): no bytes from
 * Redis end the process.
 */

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisConfig } from '../config/config.ts'
import { LastingCluster } from './cluster.ts'
import { COMMAND_TIMEOUT, type RedisConnection, SUBSCRIBE_TIMEOUT } from './connection.ts'
import { anyOf, CONNECT_TIMEOUT, type Connector, connectorTo, ownServer } from './connectors.ts'
import { type NodeAddress, Nodes } from './nodes.ts'
import { masterOf } from './sentinel.ts'

/** Milliseconds of silence, after a command, that end a connection: its other end is frozen or gone. */
const SOCKET_TIMEOUT = 2000
/** Milliseconds between attempts: at first, and at most. */
const RETRY_FIRST = 50
const RETRY_MOST = 500
/** Milliseconds until a server that is loading is asked again. */
const LOADING_RETRY = 500

/**
 * Connects in the background, and again whenever the connection is lost; commands fail at once meanwhile.
 *
 * @param report gets what went wrong, without credentials; often, while a server is away
 * @param commandTimeout ms for a command, after which its answer is dropped
 */
export function connectRedis(
  config: RedisConfig,
  report: (cause: Error) => void,
  commandTimeout = COMMAND_TIMEOUT,
): RedisConnection {
  const connection =
    config.mode === 'cluster' ? cluster(config, commandTimeout) : single(config, commandTimeout)
  connection.on('error', report)
  return connection
}

/**
 * The same, for subscriptions. Any node of a cluster passes all messages on, so this is one connection to one of them:
 * ioredis' own connection for a cluster's subscriptions can't be guarded.
 *
 * @param publisher of a cluster: knows its nodes
 */
export function connectSubscriber(
  config: RedisConfig,
  publisher: RedisConnection,
  report: (cause: Error) => void,
): Redis {
  const connection =
    publisher instanceof Cluster ? new Redis(anyNode(config, publisher)) : single(config, SUBSCRIBE_TIMEOUT)
  connection.on('error', report)
  return connection
}

const retry = (times: number) => Math.min(RETRY_FIRST * 2 ** Math.min(times, 10), RETRY_MOST)

function single(config: RedisConfig, commandTimeout: number): Redis {
  const tls = tlsOf(config)
  const [server = { host: '', port: 0 }] = config.nodes
  const sentinels = config.mode === 'sentinel'
  const to = sentinels ? connectorTo(() => masterOf(config, tls), tls) : connectorTo(ownServer, tls)
  return new Redis({
    ...shared(config, commandTimeout, to),
    ...(sentinels ? {} : server),
    db: config.db,
    retryStrategy: retry,
    enableOfflineQueue: false,
    // One that is still loading says so to each command, which is a miss. Sentinels' servers are asked for their role.
    enableReadyCheck: sentinels,
    // What was the master is none any more: the sentinels know which one is.
    ...(sentinels ? { reconnectOnError: ({ message }: Error) => message.startsWith('READONLY') } : {}),
  })
}

function anyNode(config: RedisConfig, publisher: Cluster) {
  const known = () => publisher.nodes().map(({ options }) => options as NodeAddress)
  const route = anyOf(() => [...known(), ...config.nodes])
  return {
    ...shared(
      config,
      SUBSCRIBE_TIMEOUT,
      connectorTo(() => route, tlsOf(config)),
    ),
    retryStrategy: retry,
    enableOfflineQueue: false,
    enableReadyCheck: false,
  } satisfies RedisOptions
}

function cluster(config: RedisConfig, commandTimeout: number): Cluster {
  const to = connectorTo(ownServer, tlsOf(config), new Nodes(config.nodes))
  const options = {
    redisOptions: shared(config, commandTimeout, to),
    clusterRetryStrategy: retry,
    enableOfflineQueue: false,
    slotsRefreshTimeout: CONNECT_TIMEOUT,
    slotsRefreshInterval: 5000,
    // A redirection is followed; nothing is tried again and again.
    maxRedirections: 3,
    retryDelayOnFailover: RETRY_FIRST,
    retryDelayOnClusterDown: RETRY_FIRST,
  } satisfies ClusterOptions
  return new LastingCluster(
    config.nodes.map(({ host, port }) => ({ host, port })),
    options,
  )
}

/** What every server of a deployment is spoken to with. */
function shared(config: RedisConfig, commandTimeout: number, to: Connector) {
  return {
    Connector: to,
    // The guard reads RESP2.
    protocol: 2,
    username: config.username ?? undefined,
    password: config.password ?? undefined,
    connectionName: 'seatgate',
    commandTimeout,
    socketTimeout: SOCKET_TIMEOUT,
    maxLoadingRetryTime: LOADING_RETRY,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // The bus subscribes: ioredis would leave the rejection of its own attempt to nobody.
    autoResubscribe: false,
    keepAlive: 10_000,
  } satisfies RedisOptions
}

/** Null without TLS. The system's own authorities, unless `ca` names others. */
function tlsOf({ tls, ca, cert, key }: RedisConfig): ConnectionOptions | null {
  if (!tls) return null
  const read = (file: string | null) => (file === null ? undefined : readFileSync(file))
  return { ca: read(ca), cert: read(cert), key: read(key) }
}
