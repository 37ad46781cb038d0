/**
 * Connections to Redis or Valkey with short timeouts: ioredis' defaults wait over 12 s on a frozen server,
 * and Redis is never authoritative. Each socket has a guard (`guard.ts`): no bytes from Redis can end the
 * process.
 */

import { type ConnectionOptions, createSecureContext } from 'node:tls'
import { Cluster, Redis, type RedisOptions } from './ioredis.ts'
import type { Address, RedisConfig } from '../config/config.ts'
import { COMMAND_TIMEOUT, type RedisConnection, SUBSCRIBE_TIMEOUT } from './redis-connection.ts'
import {
  CONNECT_TIMEOUT,
  type Connector,
  connectorTo,
  masterOf,
  ownServer,
  roundRobin,
} from './connectors.ts'
import { refusalsOf } from './redis-errors.ts'
import { Nodes } from './reply-validator.ts'

/** Milliseconds of silence after a command until the connection is closed. */
const SOCKET_TIMEOUT = 2000
/** Milliseconds between connection attempts: exponential backoff from MIN to MAX. */
const RETRY_MIN = 50
const RETRY_MAX = 500
/** Milliseconds between attempts while the server loads its data set. */
const LOADING_RETRY = 500
/** Milliseconds between checks. */
const CHECK_INTERVAL = 1000
/** Checks in a row without a node before a reconnect. */
const FAILED_CHECKS = 4

/**
 * Connects in the background, and reconnects if the connection is lost. Without a connection, commands fail
 * at once.
 *
 * @param report receives each connection error and each refusal of a command, without credentials; called
 *   often while a server is down
 * @param commandTimeout ms until a command fails; a later reply is dropped
 * @param socketTimeout ms of silence after a command until the connection is closed
 */
export function connectRedis(
  config: RedisConfig,
  report: (cause: Error) => void,
  commandTimeout = COMMAND_TIMEOUT,
  socketTimeout = SOCKET_TIMEOUT,
): RedisConnection {
  const timeouts = { commandTimeout, socketTimeout }
  if (config.mode === 'cluster') return cluster(config, timeouts, report)
  const connection = single(config, timeouts, report)
  connection.on('error', report)
  return connection
}

/**
 * A connection for subscriptions. Every node of a cluster forwards all messages, so one connection to any
 * node serves; ioredis' own connection for a cluster's subscriptions can't be guarded.
 *
 * @param publisher knows the nodes of a cluster
 */
export function connectSubscriber(
  config: RedisConfig,
  publisher: RedisConnection,
  report: (cause: Error) => void,
): Redis {
  const connection =
    publisher instanceof Cluster ? anyNode(config, publisher, report) : single(config, SUBSCRIBER, report)
  connection.on('error', report)
  return connection
}

type Report = (cause: Error) => void

/** Timeouts in ms, as ioredis names them. */
interface Timeouts {
  readonly commandTimeout: number
  readonly socketTimeout: number
}

const SUBSCRIBER: Timeouts = { commandTimeout: SUBSCRIBE_TIMEOUT, socketTimeout: SOCKET_TIMEOUT }

const retry = (times: number) => Math.min(RETRY_MIN * 2 ** Math.min(times, 10), RETRY_MAX)

function single(config: RedisConfig, timeouts: Timeouts, report: Report): Redis {
  const tls = tlsOf(config)
  const [server = { host: '', port: 0 }] = config.nodes
  const sentinels = config.mode === 'sentinel'
  const connector = sentinels ? connectorTo(() => masterOf(config, tls), tls) : connectorTo(ownServer, tls)
  return new Redis({
    ...commonOptions(config, timeouts, connector, refusalsOf(config.mode, report)),
    ...(sentinels ? {} : server),
    db: config.db,
    // A loading server answers each command with an error, which counts as a miss. With sentinels, INFO gives
    // the role.
    enableReadyCheck: sentinels,
  })
}

function anyNode(config: RedisConfig, publisher: Cluster, report: Report): Redis {
  const clusterNodes = () => publisher.nodes().map(({ options }) => options as Address)
  const route = roundRobin(() => [...clusterNodes(), ...config.nodes])
  const connector = connectorTo(() => route, tlsOf(config))
  // Another node may permit what this one refuses.
  const refusals = refusalsOf('single', report)
  return new Redis({
    ...commonOptions(config, SUBSCRIBER, connector, refusals),
    enableReadyCheck: false,
  })
}

function cluster(config: RedisConfig, timeouts: Timeouts, report: Report): ReconnectingCluster {
  let lost: Error | null = null
  const connector = connectorTo(ownServer, tlsOf(config), new Nodes(config.nodes), (cause) => (lost = cause))
  const nodes = config.nodes.map(({ host, port }) => ({ host, port }))
  const connection = new ReconnectingCluster(nodes, {
    // Names are kept: the certificate is for them, and TLS asks for it by name.
    dnsLookup: (host, callback) => callback(null, host),
    redisOptions: commonOptions(config, timeouts, connector, refusalsOf(config.mode, report)),
    clusterRetryStrategy: retry,
    enableOfflineQueue: false,
    slotsRefreshTimeout: CONNECT_TIMEOUT,
    slotsRefreshInterval: 5000,
    // Redirections are followed; commands are not retried otherwise.
    maxRedirections: 3,
    retryDelayOnFailover: RETRY_MIN,
    retryDelayOnClusterDown: RETRY_MIN,
  })
  const tell = (cause: Error | null) => {
    lost = null
    if (cause !== null && !connection.ended) report(cause)
  }
  connection.on('ready', () => (lost = null))
  connection.on('error', (cause: Error) => tell(isUnexplained(cause) ? (lost ?? cause) : cause))
  // Where all nodes fail that the cluster has named, ioredis connects again without an error.
  connection.on('close', () => tell(lost))
  return connection
}

/** It says no more of a node than that its connection is closed. */
function isUnexplained(cause: Error): boolean {
  const last = 'lastNodeError' in cause ? cause.lastNodeError : null
  return !(last instanceof Error) || last.message === 'Connection is closed.'
}

/** @param reconnectOnError the function of `redis-errors.ts` */
function commonOptions(
  config: RedisConfig,
  timeouts: Timeouts,
  connector: Connector,
  reconnectOnError: ReturnType<typeof refusalsOf>,
) {
  return {
    Connector: connector,
    // The guard reads RESP2.
    protocol: 2,
    username: config.username ?? undefined,
    password: config.password ?? undefined,
    connectionName: 'seatgate',
    connectTimeout: CONNECT_TIMEOUT,
    ...timeouts,
    maxLoadingRetryTime: LOADING_RETRY,
    maxRetriesPerRequest: 0,
    autoResendUnfulfilledCommands: false,
    // The bus subscribes itself: ioredis leaves the rejection of its own attempt unhandled.
    autoResubscribe: false,
    keepAlive: 10_000,
    reconnectOnError,
    // The client of a cluster replaces these two for its nodes.
    retryStrategy: retry,
    enableOfflineQueue: false,
  } satisfies RedisOptions
}

/** @returns null without TLS; the system's authorities apply without `ca` */
function tlsOf({ tls, ca, cert, key }: RedisConfig): ConnectionOptions | null {
  if (!tls) return null
  const secureContext = createSecureContext({
    // An authority that `ca` names is trusted by itself, though another one has issued it.
    allowPartialTrustChain: true,
    ca: ca ?? undefined,
    cert: cert ?? undefined,
    key: key ?? undefined,
  })
  // Set explicitly, so that NODE_TLS_REJECT_UNAUTHORIZED does not apply.
  return { secureContext, rejectUnauthorized: true }
}

/**
 * ioredis' cluster client with a reconnect of its own. ioredis stays `ready` or `disconnecting` forever,
 * without any node, when it loses its last node during its check of the cluster's state; test/redis/fuzz
 * reproduces it.
 */
class ReconnectingCluster extends Cluster {
  readonly #timer = setInterval(() => this.#check(), CHECK_INTERVAL).unref()
  #failed = 0
  /** This side has ended it, for good. */
  ended = false

  override disconnect(reconnect = false): void {
    if (!reconnect) this.ended = true
    if (!reconnect) clearInterval(this.#timer)
    super.disconnect(reconnect)
  }

  /** While the cluster is down this adds to ioredis' own attempts, which does no harm. */
  #check(): void {
    this.#failed = this.status === 'ready' && this.nodes().length > 0 ? 0 : this.#failed + 1
    if (this.#failed < FAILED_CHECKS) return
    this.#failed = 0
    super.disconnect(true)
    void this.connect().catch(() => {})
  }
}
