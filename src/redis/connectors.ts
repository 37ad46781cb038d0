/**
 * How ioredis gets a connection, by its option `Connector`: to a server, to any of several, or to the master that the
 * sentinels name; each with a guard on it (`guard.ts`).
 */

import { once } from 'node:events'
import { connect as connectTcp, Socket } from 'node:net'
import { type ConnectionOptions, connect as connectTls } from 'node:tls'
import { AbstractConnector } from 'ioredis'
import { GuardedSocket } from './guard.ts'
import { type NodeAddress, Nodes } from './nodes.ts'

/** Milliseconds for a connection and its TLS handshake, and for an answer of a sentinel. */
export const CONNECT_TIMEOUT = 1000
/** Milliseconds for Redis to close a connection that we have ended. */
const DISCONNECT_TIMEOUT = 2000

type Stream = Awaited<ReturnType<AbstractConnector['connect']>>

/** @param options what ioredis gives a connector: its own options */
export type Connector = new (options: unknown) => AbstractConnector

/** Where the next connection goes. */
export interface Route {
  /** Rejects where no server is known. */
  next(): Promise<NodeAddress>
  /** Whether the server is the one that is wanted, by its INFO. */
  check(info: Readonly<Record<string, unknown>>): boolean
}

/** To what `routeOf` says of each client that ioredis makes. */
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

/** To the host and port of the client's own options. */
export function ownServer(options: unknown): Route {
  const { host, port } = options as NodeAddress
  return { next: async () => ({ host, port }), check: () => true }
}

/** To each of these in turn. */
export function anyOf(addresses: () => readonly NodeAddress[]): Route {
  let turn = 0
  return {
    async next() {
      const all = addresses()
      const address = all[turn++ % all.length]
      if (address === undefined) throw new Error('no server is known')
      return address
    },
    check: () => true,
  }
}

/** Never rejects, as ioredis would not try again: where nothing is reached, it gets a stream that has ended. */
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
    // What ioredis uses of a socket it has too.
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
      // ioredis knows this message, and does not report it.
      if (!this.connecting) throw new Error('Connection is closed.')
      const socket = dial(address, this.#tls)
      this.#opening = new GuardedSocket(socket, this.#nodes)
      await opened(socket, this.#tls === null ? 'connect' : 'secureConnect')
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

/** Throws for an address that is none. */
function dial(address: NodeAddress, tls: ConnectionOptions | null): Socket {
  return tls === null ? connectTcp(address) : connectTls({ ...tls, ...address })
}

async function opened(socket: Socket, event: string): Promise<void> {
  const closed = new AbortController()
  const close = () => closed.abort()
  socket.once('close', close)
  const timer = setTimeout(() => socket.destroy(new Error('connect ETIMEDOUT')), CONNECT_TIMEOUT)
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
