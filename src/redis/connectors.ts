/**
 * Implementations of ioredis' option `Connector`: to one server, to any of several, or to the master that the sentinels
 * name. Each connection has a guard (`guard.ts`).
 */

import { once } from 'node:events'
import { connect as connectTcp, Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { AbstractConnector } from 'ioredis'
import { GuardedSocket } from './guard.ts'
import { type NodeAddress, Nodes } from './nodes.ts'

/** Milliseconds for TCP connect and TLS handshake, and for a sentinel's reply. */
export const CONNECT_TIMEOUT = 1000
/** Milliseconds for Redis to close a connection that this side has ended. */
const DISCONNECT_TIMEOUT = 2000

type Stream = Awaited<ReturnType<AbstractConnector['connect']>>

/** @param options the options of the ioredis client */
export type Connector = new (options: unknown) => AbstractConnector

/** Selects the server of the next connection. */
export interface Route {
  /** Rejects when no server is known. */
  next(): Promise<NodeAddress>
  /** Whether the server has the expected role, by its INFO. */
  check(info: Readonly<Record<string, unknown>>): boolean
}

/** @param routeOf called with the options of each client that ioredis creates */
export function connectorTo(
  routeOf: (options: unknown) => Route,
  tls: ConnectionOptions | null,
  nodes = new Nodes([]),
): Connector {
  return class extends GuardedConnector {
    constructor(options: unknown) {
      super(routeOf(options), tls, nodes)
    }
  }
}

/** The host and port in the client's options. */
export function ownServer(options: unknown): Route {
  const { host, port } = options as NodeAddress
  return { next: async () => ({ host, port }), check: () => true }
}

/** Each of the addresses in turn. */
export function roundRobin(addresses: () => readonly NodeAddress[]): Route {
  let next = 0
  return {
    async next() {
      const all = addresses()
      const address = all[next++ % all.length]
      if (address === undefined) throw new Error('no server is known')
      return address
    },
    check: () => true,
  }
}

/** Never rejects, because ioredis would not retry: a failed connection yields a destroyed stream. */
class GuardedConnector extends AbstractConnector {
  readonly #route: Route
  readonly #tls: ConnectionOptions | null
  readonly #nodes: Nodes
  #opening: GuardedSocket | null = null

  constructor(route: Route, tls: ConnectionOptions | null, nodes: Nodes) {
    super(DISCONNECT_TIMEOUT)
    this.#route = route
    this.#tls = tls
    this.#nodes = nodes
  }

  override check(info: Readonly<Record<string, unknown>>): boolean {
    return this.#route.check(info)
  }

  override async connect(): Promise<Stream> {
    this.connecting = true
    const guarded = await this.#open()
    // GuardedSocket has the members of a socket that ioredis uses.
    this.stream = guarded as unknown as Stream
    return this.stream
  }

  override disconnect(): void {
    this.#opening?.destroy()
    super.disconnect()
  }

  async #open(): Promise<GuardedSocket> {
    try {
      const address = await this.#route.next()
      // ioredis recognizes this message and does not report it.
      if (!this.connecting) throw new Error('Connection is closed.')
      const socket = openSocket(address, this.#tls)
      this.#opening = new GuardedSocket(socket, this.#nodes)
      await waitUntilOpen(socket, this.#tls === null ? 'connect' : 'secureConnect')
      return this.#opening
    } catch (cause) {
      this.firstError = cause instanceof Error ? cause : new Error(String(cause))
      this.#opening?.destroy()
      return this.#opening ?? new GuardedSocket(new Socket(), this.#nodes).destroy()
    } finally {
      this.#opening = null
    }
  }
}

/** @throws for an invalid address */
function openSocket(address: NodeAddress, tls: ConnectionOptions | null): Socket {
  return tls === null ? connectTcp(address) : connectTls({ ...tls, ...address })
}

async function waitUntilOpen(socket: Socket, event: string): Promise<void> {
  const closed = new AbortController()
  const close = () => closed.abort()
  socket.once('close', close)
  const timer = setTimeout(() => socket.destroy(connectTimedOut()), CONNECT_TIMEOUT)
  try {
    await once(socket, event, { signal: closed.signal })
  } catch (cause) {
    throw socket.destroyed && (cause as Error).name === 'AbortError'
      ? new Error('Connection is closed.')
      : cause
  } finally {
    clearTimeout(timer)
    socket.off('close', close)
  }
}

function connectTimedOut(): Error {
  return Object.assign(new Error('connect ETIMEDOUT'), { code: 'ETIMEDOUT' })
}
