/** The front door: the listener that requests come in by. Knows HTTP's limits and times, nothing of routes. */

import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import type { Address } from '../config/config.ts'
import type { Refusal } from '../errors.ts'
import { type Connection, connectionOf } from './connection.ts'
import { Connections } from './connections.ts'
import type { Front, FrontOptions, FrontSettings, FrontWatch } from './front-ports.ts'
import { listen, stopAccepting } from './listen.ts'
import { part } from './parting.ts'
import { rawProblem } from './problem.ts'
import { readProxyHeader } from './proxy-protocol.ts'
import { full, noTunnel, refusalOf } from './unreadable.ts'

/** Milliseconds between two looks for clients that are late, and, at the end, for connections that are quiet. */
const LOOK = 1000
const LAST_LOOK = 25
/** Milliseconds, and the share of the drain, that a kept connection may bring one more request in. */
const MOST_GRACE = 2000
const GRACE_SHARE = 1 / 15

/** Who answers. */
export interface Handler {
  /**
   * @param awaited the client asked to be told `100 Continue` before it sends its body
   * @returns false for what is no request: it came behind the last one of its connection, and is never answered
   */
  handle(request: IncomingMessage, response: ServerResponse, awaited: boolean): boolean
  /** Whether it asks for a WebSocket, and its connection is to be given to `upgrade`. */
  upgrades(request: IncomingMessage): boolean
  upgrade(request: IncomingMessage, socket: Socket, head: Buffer): void
  /** No new connections: WebSockets are to end. Those that are left when the drain is over are cut. */
  drain(): void
  /** A request that Node's parser gave up on. Answers on the bare socket. */
  unreadable(socket: Socket, refusal: Refusal): void
}

/** Resolves once connections are accepted. Rejects with Node's error when the address can't be had. */
export async function openFront(address: Address, handler: Handler, options: FrontOptions): Promise<Front> {
  const front = new FrontDoor(handler, options)
  await front.listen(address, options.shared ?? false)
  return front
}

class FrontDoor implements Front {
  readonly #handler: Handler
  readonly #watch: FrontWatch
  readonly #server: Server
  readonly #connections: Connections
  #settings: FrontSettings
  #draining = false
  readonly #look: NodeJS.Timeout

  constructor(handler: Handler, { settings, watch }: FrontOptions) {
    this.#handler = handler
    this.#watch = watch
    this.#settings = settings
    this.#connections = new Connections(settings.limits.connections, (state) => watch.evicted(state))
    this.#server = createServer({
      connectionsCheckingInterval: LOOK,
      // A long upload is not an attack: a body's silence is bounded where it is read.
      requestTimeout: 0,
      // Refused by the guard, with the gateway's own answer.
      requireHostHeader: false,
      noDelay: true,
      shouldUpgradeCallback: (request) => handler.upgrades(request),
    })
    // Node would drop fields beyond its limit silently; the guard counts and refuses them.
    this.#server.maxHeadersCount = 0
    this.use(settings)
    this.#listenToRequests(this.#server)
    this.#listenToConnections(this.#server)
    this.#look = setInterval(() => this.#connections.cutStalled(this.#settings.stall), LOOK).unref()
  }

  async listen(address: Address, shared: boolean): Promise<void> {
    await listen(this.#server, address, shared)
    this.#server.on('error', (cause) => this.#watch.unavailable(cause))
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo
  }

  get connections() {
    return this.#connections.counts
  }

  /** Node reads the first of them when a connection begins, the times when they matter. */
  use(settings: FrontSettings): void {
    const { limits } = settings
    this.#settings = settings
    Object.assign(this.#server, {
      maxHeaderSize: limits.headerBytes,
      headersTimeout: limits.headerTimeout,
      keepAliveTimeout: limits.idleTimeout,
    })
    this.#connections.use(limits.connections)
  }

  #listenToRequests(server: Server): void {
    server.on('request', (request, response) => this.#answer(request, response, false))
    server.on('checkContinue', (request, response) => this.#answer(request, response, true))
    // Anything but 100-continue: the guard refuses it.
    server.on('checkExpectation', (request, response) => this.#answer(request, response, false))
    server.on('upgrade', (request, socket, head) => {
      const connection = connectionOf(request.socket)
      connection.upgraded = true
      this.#connections.begun(connection)
      this.#handler.upgrade(request, socket as Socket, head)
    })
    server.on('connect', (_request, socket) => {
      // Node has let go of this socket: an error that nobody listens for would end the process.
      socket.on('error', () => {})
      this.#handler.unreadable(socket as Socket, noTunnel)
    })
    server.on('clientError', (error, socket) =>
      this.#handler.unreadable(socket as Socket, refusalOf(error, this.#settings.limits)),
    )
  }

  /** Before Node makes a parser for it. */
  #listenToConnections(server: Server): void {
    const [accept] = server.listeners('connection') as ((socket: Socket) => void)[]
    if (accept === undefined) throw new Error('Node.js listens to its connections in another way')
    server.off('connection', accept)
    server.on('connection', (socket: Socket) => {
      if (!this.#connections.admit(socket)) {
        this.#watch.refused()
        return refuse(socket)
      }
      if (!this.#settings.proxyProtocol) return accept.call(server, socket)
      this.#announced(socket, () => accept.call(server, socket))
    })
  }

  #announced(socket: Socket, accept: () => void): void {
    const peer = socket.remoteAddress
    const { trusts, limits } = this.#settings
    const wrong = (reason: string) => {
      this.#watch.unannounced(reason, peer)
      socket.destroy()
    }
    if (!trusts(peer)) return wrong('the peer is not in trusted_proxies')
    readProxyHeader(socket, limits.headerTimeout, (reason) => {
      if (reason !== null) return wrong(reason)
      // The header is no part of a request.
      connectionOf(socket).read = socket.bytesRead - socket.readableLength
      accept()
    })
  }

  #answer(request: IncomingMessage, response: ServerResponse, awaited: boolean): void {
    const connection = connectionOf(request.socket)
    this.#connections.begun(connection)
    if (this.#draining) response.shouldKeepAlive = false
    if (!this.#handler.handle(request, response, awaited)) return
    if (this.#draining) connection.closing = true
    response.once('close', () => this.#connections.answered(connection))
  }

  async close(drain: number): Promise<void> {
    this.#draining = true
    this.#connections.startClock()
    this.#handler.drain()
    for (const connection of this.#connections.active) endAfterLast(connection)
    const grace = Math.min(drain * GRACE_SHARE, MOST_GRACE)
    const look = setInterval(() => this.#connections.closeQuiet(grace), LAST_LOOK)
    const { ended } = await stopAccepting(this.#server)
    // Only now: who came in between would not be cut.
    const cut = setTimeout(() => this.#connections.closeAll(), drain)
    await ended
    clearInterval(look)
    clearInterval(this.#look)
    clearTimeout(cut)
    // Ends Node's looks for late header sections, which went on until now.
    this.#server.close()
  }
}

/** Nothing of it is read: there is no room. */
function refuse(socket: Socket): void {
  socket.on('error', () => {})
  part(socket, rawProblem(full, randomUUID()))
}

/** An answer that has not begun tells the client that it is the last; one that has begun can't any more. */
function endAfterLast(connection: Connection): void {
  const { last } = connection
  if (last === null || last.response.headersSent) return
  last.response.shouldKeepAlive = false
  connection.closing = true
}
