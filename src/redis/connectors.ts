/**
 * Implementations of ioredis' option `Connector`: to one server, to any of several, or to the master that the
 * sentinels name. Each connection has a guard (`guard.ts`).
 */

import { connect as connectTcp, Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { AbstractConnector, Redis } from './ioredis.ts'
import type { Address, RedisConfig } from '../config/config.ts'
import { GuardedSocket } from './guard.ts'
import { failedAt } from './redis-errors.ts'
import { addressOf, Nodes } from './reply-validator.ts'

/** Milliseconds to connect with TLS (`connectTimeout` of clients), and for a sentinel's reply. */
export const CONNECT_TIMEOUT = 1000
/** Milliseconds for Redis to close a connection that this side has ended. */
const DISCONNECT_TIMEOUT = 2000

type Stream = Awaited<ReturnType<AbstractConnector['connect']>>

/** @param options the options of the ioredis client */
export type Connector = new (options: unknown) => AbstractConnector

/** Selects the server of the next connection. */
export interface Route {
  /** Rejects when no server is known. */
  next(): Promise<Address>
  /** Whether the server has the expected role, by its INFO; left out: the role does not matter. */
  check?(info: Readonly<Record<string, unknown>>): boolean
}

/**
 * @param routeOf called with the options of each client that ioredis creates
 * @param failed receives the errors of connections: the client of a cluster does not report the errors of its
 *   nodes
 */
export function connectorTo(
  routeOf: (options: unknown) => Route,
  tls: ConnectionOptions | null,
  nodes = new Nodes([]),
  failed: (cause: Error) => void = () => {},
): Connector {
  return class GuardedConnector extends AbstractConnector {
    readonly #route: Route

    constructor(options: unknown) {
      super(DISCONNECT_TIMEOUT)
      this.#route = routeOf(options)
    }

    override check(info: Readonly<Record<string, unknown>>): boolean {
      return this.#route.check?.(info) ?? true
    }

    /** Never rejects, as ioredis would not retry: if no server is known, it yields a destroyed stream. */
    override async connect(): Promise<Stream> {
      this.connecting = true
      // GuardedSocket has the members of a socket that ioredis uses.
      this.stream = (await this.#open()) as unknown as Stream
      return this.stream
    }

    async #open(): Promise<GuardedSocket> {
      try {
        const address = await this.#route.next()
        // ioredis recognizes this message and does not report it.
        if (!this.connecting) throw new Error('Connection is closed.')
        const socket = tls === null ? connectTcp(address) : connectTls({ ...tls, ...address })
        // Before the guard's listener, which passes it on.
        socket.once('error', (cause) => {
          failedAt(cause, address)
          failed(cause)
        })
        return new GuardedSocket(socket, nodes)
      } catch (cause) {
        this.firstError = cause instanceof Error ? cause : new Error(String(cause))
        return new GuardedSocket(new Socket(), nodes).destroy()
      }
    }
  }
}

/** The host and port in the client's options. */
export function ownServer(options: unknown): Route {
  const { host, port } = options as Address
  return { next: async () => ({ host, port }) }
}

/** Each of the addresses in turn. */
export function roundRobin(addresses: () => readonly Address[]): Route {
  let next = 0
  return {
    async next() {
      const all = addresses()
      const address = all[next++ % all.length]
      if (address === undefined) throw new Error('no server is known')
      return address
    },
  }
}

/** Queries the configured sentinels, beginning with the last one that replied. */
export function masterOf(config: RedisConfig, tls: ConnectionOptions | null): Route {
  const { nodes } = config
  let current = 0
  return {
    async next() {
      let last: unknown = new Error('no sentinel is known')
      for (let tried = 0; tried < nodes.length; tried++) {
        const sentinel = nodes[current % nodes.length] as Address
        try {
          return await queryMaster(sentinel, config, tls)
        } catch (cause) {
          last = cause
          current++
        }
      }
      throw last
    },
    check({ role }) {
      const isMaster = role === undefined || role === 'master'
      // This sentinel does not know of the failover yet.
      if (!isMaster) current++
      return isMaster
    },
  }
}

async function queryMaster(
  { host, port }: Address,
  config: RedisConfig,
  tls: ConnectionOptions | null,
): Promise<Address> {
  const client = new Redis({
    host,
    port,
    Connector: connectorTo(ownServer, tls),
    protocol: 2,
    username: config.sentinelUsername ?? undefined,
    password: config.sentinelPassword ?? undefined,
    connectTimeout: CONNECT_TIMEOUT,
    commandTimeout: CONNECT_TIMEOUT,
    socketTimeout: CONNECT_TIMEOUT,
    retryStrategy: () => null,
    enableReadyCheck: false,
  })
  let lost: unknown = null
  client.on('error', (cause) => (lost = cause))
  try {
    return parseMaster(await client.call('SENTINEL', 'get-master-addr-by-name', config.master ?? ''))
  } catch (cause) {
    // The command's own error says only that the connection is closed.
    throw lost ?? cause
  } finally {
    client.disconnect()
  }
}

/** @param reply host and port as strings */
function parseMaster(reply: unknown): Address {
  const [host, port] = Array.isArray(reply) ? reply : []
  const address = addressOf(String(host), /^[0-9]{1,5}$/.test(String(port)) ? Number(port) : 0)
  if (address === null) throw new Error('the sentinel names no master')
  return address
}
