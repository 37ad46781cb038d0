/**
 * Connections to Redis or Valkey, with every wait bounded: ioredis' own defaults wait over 12 s on a frozen server.
 * Redis is never the truth, so nothing here is worth waiting for.
 */

import { readFileSync } from 'node:fs'
import type { ConnectionOptions } from 'node:tls'
import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis'
import type { RedisConfig } from '../config/config.ts'
import { COMMAND_TIMEOUT, type Connection } from './connection.ts'

/** Milliseconds for a connection, a TLS handshake and a greeting. */
const CONNECT_TIMEOUT = 1000
/** Milliseconds of silence, after a command, that end a connection: its other end is frozen or gone. */
const SOCKET_TIMEOUT = 2000
/** Milliseconds between attempts: at first, and at most. */
const RETRY_FIRST = 50
const RETRY_MOST = 500

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
): Connection {
  const connection =
    config.mode === 'cluster' ? cluster(config, commandTimeout) : new Redis(single(config, commandTimeout))
  connection.on('error', report)
  return connection
}

const retry = (times: number) => Math.min(RETRY_FIRST * 2 ** Math.min(times, 10), RETRY_MOST)

function single(config: RedisConfig, commandTimeout: number) {
  const { mode, nodes, master, db } = config
  const common = { ...server(config, commandTimeout), db, retryStrategy: retry, enableOfflineQueue: false }
  // One that is still loading says so to each command, which is a miss. Sentinels' servers are asked for their role.
  if (mode === 'single') return { ...common, ...nodes[0], enableReadyCheck: false }
  return {
    ...common,
    sentinels: nodes.map(({ host, port }) => ({ host, port })),
    name: master ?? '',
    sentinelUsername: config.sentinelUsername ?? undefined,
    sentinelPassword: config.sentinelPassword ?? undefined,
    sentinelCommandTimeout: CONNECT_TIMEOUT,
    sentinelRetryStrategy: retry,
    // What was the master is none any more: the sentinels know who is.
    reconnectOnError: ({ message }: Error) => message.startsWith('READONLY'),
    ...(config.tls ? { enableTLSForSentinelMode: true, sentinelTLS: tlsOf(config) } : {}),
  }
}

function cluster(config: RedisConfig, commandTimeout: number): Cluster {
  const options = {
    redisOptions: server(config, commandTimeout),
    clusterRetryStrategy: retry,
    enableOfflineQueue: false,
    slotsRefreshTimeout: CONNECT_TIMEOUT,
    slotsRefreshInterval: 5000,
    // A redirection is followed; nothing is tried again and again.
    maxRedirections: 3,
    retryDelayOnFailover: RETRY_FIRST,
    retryDelayOnClusterDown: RETRY_FIRST,
  } satisfies ClusterOptions
  return new Cluster(
    config.nodes.map(({ host, port }) => ({ host, port })),
    options,
  )
}

/** What every server of a deployment is spoken to with. */
function server(config: RedisConfig, commandTimeout: number) {
  return {
    username: config.username ?? undefined,
    password: config.password ?? undefined,
    ...(config.tls ? { tls: tlsOf(config) } : {}),
    connectionName: 'seatgate',
    connectTimeout: CONNECT_TIMEOUT,
    commandTimeout,
    socketTimeout: SOCKET_TIMEOUT,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // Done by whoever subscribes: ioredis would leave the rejection of its own attempt to nobody.
    autoResubscribe: false,
    keepAlive: 10_000,
  } satisfies RedisOptions
}

/** The system's own authorities, unless `ca` names others. */
function tlsOf({ ca, cert, key }: RedisConfig): ConnectionOptions {
  const read = (file: string | null) => (file === null ? undefined : readFileSync(file))
  return { ca: read(ca), cert: read(cert), key: read(key) }
}
