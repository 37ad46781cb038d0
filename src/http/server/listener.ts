/** The HTTP/1.1 listener of the data plane. It enforces the limits and times of HTTP and knows no routes. */

import { randomUUID } from 'node:crypto'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Address } from '../../config/config.ts'
import type { Refusal } from '../../model/errors.ts'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import type { Http1ConnectionSettings, KeepAlive } from './http1-connection.ts'
import type { MalformedRequest } from '../wire/malformed-request.ts'
import { requestGrammar } from '../wire/request-parser.ts'
import { DeferredQueue } from '../../lib/deferred-queue.ts'
import { ClientConnection, type ClientConnectionOwner } from './client-connection.ts'
import { ConnectionMemory } from './connection-memory.ts'
import { Connections, type RefusedBy } from './connections.ts'
import type {
  RequestListener,
  ListenerOptions,
  ListenerSettings,
  ListenerEvents,
} from './listener-options.ts'
import { listen, stopAccepting } from './listen.ts'
import { type LingeringLimits, LingeringConnections } from './lingering-close.ts'
import { rawProblem } from './problem.ts'
import { readProxyHeader } from './proxy-protocol.ts'
import {
  addressExhausted,
  connectionsExhausted,
  refusalOf,
  memoryExhausted,
  headTimeout,
} from './connection-refusal.ts'

/** Milliseconds between two checks of timeouts, and of idle connections during a drain. */
const CHECK_INTERVAL = 1000
const DRAIN_CHECK_INTERVAL = 25
/** Milliseconds, and the share of the drain, in which a kept-alive connection may bring one more request. */
const MAX_GRACE = 2000
const GRACE_SHARE = 1 / 15

/** Limits in ms for refused connections, of which no request is parsed. */
const REFUSED_LIMITS: LingeringLimits = { maxConnections: 256, time: 1000, idle: 1000 }

/** Sends the last response of a connection and closes it by a lingering close. */
export type CloseWith = (last: string) => void

/** Handles requests. */
export interface Handler {
  /** Returns at once. */
  handle(request: ClientRequest, response: ClientResponse): Exchange
  /** Whether the request is a WebSocket handshake, whose connection then goes to `upgrade`. */
  acceptsUpgrade(request: ClientRequest): boolean
  /** @param rest bytes that arrived in the same read after the handshake */
  upgrade(request: ClientRequest, rest: Buffer): Exchange
  /** The response is sent, or the connection is closed. Not called for upgraded connections. */
  ended(exchange: Exchange): void
  /** No new connections: WebSockets are to end. The remaining ones are closed at the end of the drain. */
  drain(): void
  /** The bytes form no valid request, or not the announced body of this exchange. */
  malformed(socket: Socket, refusal: Refusal, exchange: Exchange | null, closeWith: CloseWith): void
}

/** Resolves when connections are accepted. Rejects with the error of Node.js if the address is not available. */
export async function openRequestListener(
  address: Address,
  handler: Handler,
  options: ListenerOptions,
): Promise<RequestListener> {
  const listener = new HttpListener(handler, options)
  await listener.listen(address, options.shared ?? false)
  return listener
}

class HttpListener implements RequestListener, ClientConnectionOwner {
  readonly #handler: Handler
  readonly #events: ListenerEvents
  readonly #server: Server
  readonly #connections: Connections
  /** Connections with their last response sent; no longer in `#connections`. */
  readonly #lingeringConnections: LingeringConnections
  readonly #refusals = new LingeringConnections(REFUSED_LIMITS)
  readonly #memory: ConnectionMemory<ClientConnection>
  #settings: ListenerSettings
  #http1Connections: Http1ConnectionSettings
  #draining = false
  /** Shared by all connections, whatever settings they began with. */
  readonly #keepAlive: KeepAlive
  readonly #checkTimer: NodeJS.Timeout

  constructor(handler: Handler, { settings, events }: ListenerOptions) {
    this.#handler = handler
    this.#events = events
    this.#settings = settings
    this.#keepAlive = { seconds: keepAliveSeconds(settings) }
    this.#http1Connections = http1Settings(settings, new DeferredQueue(), this.#keepAlive)
    this.#connections = new Connections(settings.limits, (state) => events.evicted(state))
    this.#lingeringConnections = new LingeringConnections(lingeringLimits(settings))
    this.#memory = new ConnectionMemory(settings.memory, (connection) => this.#freeMemory(connection))
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket))
    this.#checkTimer = setInterval(() => this.#checkTimeouts(), CHECK_INTERVAL).unref()
  }

  async listen(address: Address, shared: boolean): Promise<void> {
    await listen(this.#server, address, shared)
    this.#server.on('error', (cause) => this.#events.unavailable(cause))
  }

  get address(): AddressInfo {
    return this.#server.address() as AddressInfo
  }

  get memory(): number {
    return this.#memory.bytes
  }

  get connections() {
    return { ...this.#connections.counts, lingering: this.#lingeringConnections.size + this.#refusals.size }
  }

  /** Sizes apply to new connections, times to all. */
  configure(settings: ListenerSettings): void {
    this.#settings = settings
    this.#keepAlive.seconds = keepAliveSeconds(settings)
    this.#http1Connections = http1Settings(settings, this.#http1Connections.deferred, this.#keepAlive)
    this.#connections.configure(settings.limits)
    this.#lingeringConnections.configure(lingeringLimits(settings))
    this.#memory.configure(settings.memory)
  }

  #accept(socket: Socket): void {
    const { proxyProtocol, clientOf } = this.#settings
    const connection = new ClientConnection(socket, this)
    const refusedBy = this.#connections.admit(
      connection,
      proxyProtocol ? null : clientOf(socket.remoteAddress),
    )
    if (refusedBy !== null) return this.#refuse(connection, refusedBy)
    if (proxyProtocol) this.#awaitProxyHeader(connection)
    else connection.startHttp1(this.#http1Connections)
  }

  /** Nothing is read from it. */
  #refuse(connection: ClientConnection, by: RefusedBy): void {
    const { socket } = connection
    this.#events.refused(by)
    this.#connections.remove(connection)
    socket.on('error', () => {})
    this.#refusals.close(
      socket,
      rawProblem(by === 'address' ? addressExhausted : connectionsExhausted, randomUUID()),
    )
  }

  #awaitProxyHeader(connection: ClientConnection): void {
    const { socket } = connection
    if (!this.#settings.trusts(socket.remoteAddress))
      return this.#rejectProxyHeader(connection, 'the peer is not in trusted_proxies')
    readProxyHeader(socket, (reason) => {
      if (reason !== null) return this.#rejectProxyHeader(connection, reason)
      // From here on the socket has the address of the client.
      if (!this.#connections.identify(connection, this.#settings.clientOf(socket.remoteAddress)))
        return this.#refuse(connection, 'address')
      // The PROXY header does not count as a part of a request.
      connection.bytesReadWhenIdle = socket.bytesRead - socket.readableLength
      connection.startHttp1(this.#http1Connections)
    })
  }

  /** Closed without a response, as the peer is not the expected proxy. */
  #rejectProxyHeader({ socket }: ClientConnection, reason: string): void {
    this.#events.proxyHeaderRejected(reason, socket.remoteAddress)
    socket.destroy()
  }

  headStarted(connection: ClientConnection): void {
    this.#connections.headStarted(connection)
  }

  requestReceived(connection: ClientConnection, request: ClientRequest, response: ClientResponse): void {
    this.#connections.headReceived(connection)
    if (this.#draining) response.shouldKeepAlive = false
    connection.exchange = this.#handler.handle(request, response)
  }

  exchangeEnded(exchange: Exchange): void {
    this.#handler.ended(exchange)
  }

  becameIdle(connection: ClientConnection): void {
    this.#connections.becameIdle(connection)
  }

  memoryChanged(connection: ClientConnection, bytes: number): void {
    this.#memory.update(connection, bytes)
  }

  #freeMemory(connection: ClientConnection): void {
    const { socket } = connection
    if (connection.dropPipelined()) return this.#events.memoryFreed('ahead')
    if (connection.awaitsHead) {
      this.#events.memoryFreed('head')
      connection.stop()
      return this.#refuseMalformed(connection, memoryExhausted)
    }
    this.#events.memoryFreed('request')
    socket.destroy()
    this.#memory.update(connection, 0)
  }

  /** Buffered bytes of WebSockets, measured once a second: backpressure stops each upstream before they are many. */
  #measureUpgraded(): void {
    for (const connection of this.#connections.upgraded())
      this.#memory.update(connection, connection.socket.destroyed ? 0 : connection.socket.writableLength)
  }

  acceptsUpgrade(request: ClientRequest): boolean {
    return this.#handler.acceptsUpgrade(request)
  }

  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void {
    this.#connections.headReceived(connection)
    connection.exchange = this.#handler.upgrade(request, rest)
    connection.socket.once('close', () => this.#memory.update(connection, 0))
  }

  malformed(connection: ClientConnection, fault: MalformedRequest): void {
    this.#refuseMalformed(connection, refusalOf(fault))
  }

  #refuseMalformed(connection: ClientConnection, refusal: Refusal): void {
    const { socket, exchange } = connection
    this.#handler.malformed(socket, refusal, exchange, (last) => this.linger(connection, last))
  }

  linger(connection: ClientConnection, last = ''): void {
    this.#connections.remove(connection)
    this.#lingeringConnections.close(connection.socket, last)
  }

  #checkTimeouts(): void {
    const { limits, stall } = this.#settings
    this.#connections.closeStalled(stall)
    this.#measureUpgraded()
    this.#connections.closeLate(limits.headerTimeout, limits.idleTimeout, (connection) => {
      if (!connection.hasHttp1)
        return this.#rejectProxyHeader(connection, 'the PROXY header did not arrive in time')
      connection.stop()
      this.#refuseMalformed(connection, headTimeout)
    })
  }

  async close(drain: number): Promise<void> {
    this.#draining = true
    this.#connections.startClock()
    this.#handler.drain()
    this.#lingeringConnections.end(drain)
    for (const { exchange } of this.#connections.active) if (exchange !== null) closeAfterResponse(exchange)
    const grace = Math.min(drain * GRACE_SHARE, MAX_GRACE)
    const checkTimer = setInterval(() => this.#connections.closeIdle(grace), DRAIN_CHECK_INTERVAL)
    const { ended } = await stopAccepting(this.#server)
    // Set after the last accept, so that it covers all connections.
    const cutTimer = setTimeout(() => this.#connections.closeAll(), drain)
    await ended
    clearInterval(checkTimer)
    clearInterval(this.#checkTimer)
    clearTimeout(cutTimer)
  }
}

function http1Settings(
  { limits: { headerBytes } }: ListenerSettings,
  deferred: DeferredQueue,
  keepAlive: KeepAlive,
): Http1ConnectionSettings {
  return { grammar: requestGrammar(headerBytes), headerBytes, keepAlive, deferred }
}

/** A refused client has no more time than one whose body is read. */
function lingeringLimits({ limits }: ListenerSettings): LingeringLimits {
  const { lingeringConnections: maxConnections, lingeringTime: time, lingeringTimeout, bodyTimeout } = limits
  return { maxConnections, time, idle: Math.min(lingeringTimeout, bodyTimeout) }
}

function keepAliveSeconds({ limits }: ListenerSettings): number {
  return Math.floor(limits.idleTimeout / 1000)
}

/** A response without a sent head announces the end of the connection; a later one cannot. */
function closeAfterResponse({ response }: Exchange): void {
  if (!response.headersSent) response.shouldKeepAlive = false
}
