/** The HTTP/1.1 listener of the data plane. It enforces the limits and times of HTTP and knows no routes. */

import { randomUUID } from 'node:crypto'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Address } from '../../config/config.ts'
import type { Refusal } from '../../model/errors.ts'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import { Http1Connection, type Http1ConnectionSettings, type KeepAlive } from './http1-connection.ts'
import { Http2Connection } from './http2-server-connection.ts'
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
import { openedWebSocket } from './open-web-socket.ts'
import { type LingeringLimits, LingeringConnections } from './lingering-close.ts'
import { readProxyHeader } from './proxy-protocol.ts'
import { Handshakes } from './handshakes.ts'
import type { TlsAcceptor } from './tls-acceptor.ts'
import { http2Problem, readPreface } from './http2-preface.ts'
import type { Handler } from './request-handler.ts'
import { rawProblem, type RespondUnparsed } from './problem.ts'
import { errorName, type Http2Error } from '../wire/http2/http2-errors.ts'
import {
  addressExhausted,
  connectionsExhausted,
  malformedRefusal,
  memoryExhausted,
  headTimeout,
} from './connection-refusal.ts'

/** Milliseconds between two checks of timeouts, and of idle connections during a drain. */
const CHECK_INTERVAL = 1000
const DRAIN_CHECK_INTERVAL = 25
/** Milliseconds, and the share of the drain, in which a kept-alive connection may bring one more request. */
const MAX_GRACE = 2000
const GRACE_SHARE = 1 / 15

/** Limits in ms for refused connections. No request is parsed on them. */
const REFUSED_LIMITS: LingeringLimits = { maxConnections: 256, time: 1000, idle: 1000 }

/**
 * Resolves when connections are accepted at every address. Rejects with the error of Node.js if one is not
 * available: the listeners of the addresses before it are closed then. Limits count the connections of all
 * addresses together.
 *
 * @param explain adds to the error of one address
 */
export async function openRequestListener(
  addresses: Address | readonly Address[],
  handler: Handler,
  options: ListenerOptions,
  explain: Explain = (_, listening) => listening(),
): Promise<RequestListener> {
  const listener = new HttpListener(handler, options)
  try {
    for (const [at, address] of [addresses].flat().entries())
      await explain(at, () => listener.listen(address, options.shared ?? false))
    return listener
  } catch (cause) {
    await listener.close(0)
    throw cause
  }
}

/** @param at the index of the address */
export type Explain = (at: number, listen: () => Promise<void>) => Promise<void>

interface ListeningSocket {
  readonly server: Server
  /** `host:port`, for log lines. */
  readonly name: string
}

class HttpListener implements RequestListener, ClientConnectionOwner {
  readonly #handler: Handler
  readonly #events: ListenerEvents
  readonly #listening: ListeningSocket[] = []
  readonly #connections: Connections
  /** Connections with their last response sent; no longer in `#connections`. */
  readonly #lingeringConnections: LingeringConnections
  readonly #refusals = new LingeringConnections(REFUSED_LIMITS)
  readonly #memory: ConnectionMemory
  readonly #handshakes: Handshakes
  readonly #deferred = new DeferredQueue(() => this.#connections.anyActive)
  #settings: ListenerSettings
  #http1Connections: Http1ConnectionSettings
  #draining = false
  /** Shared by all connections, whatever settings they began with. */
  readonly #keepAlive: KeepAlive
  readonly #checkTimer: NodeJS.Timeout

  constructor(handler: Handler, { settings, events }: ListenerOptions) {
    this.#handler = handler
    this.#events = events
    this.#handshakes = new Handshakes(events)
    this.#settings = settings
    this.#keepAlive = { seconds: keepAliveSeconds(settings) }
    this.#http1Connections = http1Settings(settings, this.#deferred, this.#keepAlive)
    this.#connections = new Connections(settings.limits, (state) => events.evicted(state))
    this.#lingeringConnections = new LingeringConnections(lingeringLimits(settings))
    this.#memory = new ConnectionMemory(settings.memory, (connection) => this.#freeMemory(connection))
    this.#checkTimer = setInterval(() => this.#checkTimeouts(), CHECK_INTERVAL).unref()
  }

  async listen(address: Address, shared: boolean): Promise<void> {
    const at = this.#listening.length
    const server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket, at))
    await listen(server, address, shared)
    this.#listening.push({ server, name: nameOf(server.address() as AddressInfo) })
    server.on('error', (cause) => this.#events.unavailable(cause))
  }

  get address(): AddressInfo {
    const [first] = this.addresses
    if (first === undefined) throw new Error('not listening')
    return first
  }

  get addresses(): AddressInfo[] {
    return this.#listening.map(({ server }) => server.address() as AddressInfo)
  }

  get memory(): number {
    return this.#memory.bytes
  }

  get connections() {
    return { ...this.#connections.counts, lingering: this.#lingeringConnections.size + this.#refusals.size }
  }

  /** Sizes apply to new connections, times and refusals of peers to all. */
  configure(settings: ListenerSettings): void {
    this.#settings = settings
    this.#keepAlive.seconds = keepAliveSeconds(settings)
    this.#http1Connections = http1Settings(settings, this.#deferred, this.#keepAlive)
    this.#connections.configure(settings.limits)
    this.#lingeringConnections.configure(lingeringLimits(settings))
    this.#memory.configure(settings.memory)
    const { refusalOf } = settings
    if (refusalOf === undefined) return
    for (const each of this.#connections.all())
      if (refusalOf(each.socket.remoteAddress) !== null) each.dismiss()
  }

  /** @param at the index of the address */
  #accept(socket: Socket, at: number): void {
    // The peer has reset it, as clients of a frozen gateway do: an unknown address is no refusal of a peer.
    if (socket.remoteAddress === undefined) return void socket.destroy()
    const { proxyProtocol, clientOf } = this.#settings
    const connection = new ClientConnection(socket, this)
    const refusal = this.#settings.refusalOf?.(socket.remoteAddress) ?? null
    if (refusal !== null) return this.#refusePeer(connection, refusal)
    const refusedBy = this.#connections.admit(
      connection,
      proxyProtocol ? null : clientOf(socket.remoteAddress),
    )
    if (refusedBy !== null) return this.#refuse(connection, refusedBy, at)
    if (proxyProtocol) this.#awaitProxyHeader(connection, at)
    else this.#begin(connection, at)
  }

  /** Nothing is read from it. Over TLS there is no response: it would need a handshake. */
  #refuse(connection: ClientConnection, by: RefusedBy, at: number): void {
    const { socket } = connection
    this.#events.refused(by)
    this.#connections.remove(connection)
    socket.on('error', () => {})
    if (this.#acceptorOf(at) !== null) return void socket.destroy()
    this.#refusals.close(
      socket,
      rawProblem(by === 'address' ? addressExhausted : connectionsExhausted, randomUUID()),
    )
  }

  #refusePeer({ socket }: ClientConnection, refusal: Refusal): void {
    socket.on('error', () => {})
    this.#handler.malformed(socket, refusal, null, (of, id) =>
      this.#refusals.close(socket, rawProblem(of, id)),
    )
  }

  #acceptorOf(at: number): TlsAcceptor | null {
    return this.#settings.tls?.[at] ?? null
  }

  #awaitProxyHeader(connection: ClientConnection, at: number): void {
    const { socket } = connection
    if (!this.#settings.trusts(socket.remoteAddress))
      return this.#rejectProxyHeader(connection, 'the peer is not in trusted_proxies')
    readProxyHeader(socket, (reason) => {
      if (reason !== null) return this.#rejectProxyHeader(connection, reason)
      // From here on the socket has the address of the client.
      if (!this.#connections.identify(connection, this.#settings.clientOf(socket.remoteAddress)))
        return this.#refuse(connection, 'address', at)
      // The PROXY header does not count as a part of a request.
      connection.bytesReadWhenIdle = socket.bytesRead - socket.readableLength
      this.#begin(connection, at)
    })
  }

  /** Closed without a response, as the peer is not the expected proxy. */
  #rejectProxyHeader({ socket }: ClientConnection, reason: string): void {
    this.#events.proxyHeaderRejected(reason, socket.remoteAddress)
    socket.destroy()
  }

  #begin(connection: ClientConnection, at: number): void {
    const acceptor = this.#acceptorOf(at)
    if (acceptor !== null)
      this.#handshakes.begin(connection, acceptor, this.#listening[at]?.name ?? '', ({ alpnProtocol }) =>
        this.#start(connection, alpnProtocol === 'h2'),
      )
    else if (this.#settings.priorKnowledge === true)
      readPreface(connection.socket, (isHttp2) => this.#start(connection, isHttp2))
    else this.#start(connection, false)
  }

  /** Requests are parsed from now on. */
  #start(connection: ClientConnection, isHttp2: boolean): void {
    if (isHttp2) connection.http2 = new Http2Connection(connection, this.#settings, this.#deferred)
    else connection.http1 = new Http1Connection(connection, this.#http1Connections)
  }

  headStarted(connection: ClientConnection): void {
    this.#connections.headStarted(connection)
  }

  headWithdrawn(connection: ClientConnection): void {
    this.#connections.headWithdrawn(connection)
  }

  requestReceived(connection: ClientConnection, request: ClientRequest, response: ClientResponse): Exchange {
    this.#connections.headReceived(connection)
    if (this.#draining) response.shouldKeepAlive = false
    return this.#handler.handle(request, response)
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
    if (connection.http1?.dropPipelined() === true) return this.#events.memoryFreed('ahead')
    // The client has to send a request, or the rest of a head.
    if (connection.http1?.request === null) {
      this.#events.memoryFreed('head')
      connection.stop()
      return this.#refuseMalformed(connection, memoryExhausted)
    }
    this.#events.memoryFreed('request')
    socket.destroy()
    this.#memory.update(connection, 0)
  }

  /** Measures buffered bytes of WebSockets, once a second: backpressure stops both ends early. */
  #measureUpgraded(): void {
    for (const connection of this.#connections.active.filter(({ isUpgraded }) => isUpgraded)) {
      const { socket, exchange } = connection
      const held =
        (exchange === null ? undefined : openedWebSocket.get(exchange))?.heldBytes ?? socket.writableLength
      this.#memory.update(connection, socket.destroyed ? 0 : held)
    }
  }

  acceptsUpgrade(request: ClientRequest): boolean {
    return this.#handler.acceptsUpgrade(request)
  }

  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void {
    this.#connections.headReceived(connection)
    connection.isUpgraded = true
    connection.http1 = null
    connection.exchange = this.#handler.upgrade(request, rest)
    connection.socket.once('close', () => this.#memory.update(connection, 0))
  }

  malformed(connection: ClientConnection, fault: MalformedRequest): void {
    // After a request of HTTP/1.1, the preface does not come from a client of HTTP/2.
    const isHttp2 = fault.kind === 'http2' && this.#connections.isNew(connection)
    this.#refuseMalformed(connection, malformedRefusal(fault), isHttp2 ? http2Problem : rawProblem)
  }

  /** @param problem makes the bytes of the response */
  #refuseMalformed(
    connection: ClientConnection,
    refusal: Refusal,
    problem: (refusal: Refusal, requestId: string) => string | Buffer = rawProblem,
  ): void {
    const { socket, exchange } = connection
    this.#handler.malformed(socket, refusal, exchange, (of, id) => this.linger(connection, problem(of, id)))
  }

  malformedStream(connection: ClientConnection, fault: MalformedRequest, respond: RespondUnparsed): void {
    this.#connections.headReceived(connection)
    this.#handler.malformed(connection.socket, malformedRefusal(fault), null, respond)
  }

  sessionFailed(connection: ClientConnection, error: Http2Error): void {
    this.#events.sessionFailed(errorName(error.code), error.message, connection.socket.remoteAddress)
    this.linger(connection)
  }

  linger(connection: ClientConnection, last: string | Buffer = ''): void {
    this.#connections.remove(connection)
    this.#lingeringConnections.close(connection.socket, last)
  }

  #checkTimeouts(): void {
    const { limits, stall, tls = [] } = this.#settings
    for (const acceptor of tls) acceptor?.rotate(Date.now())
    this.#connections.closeStalled(stall)
    this.#measureUpgraded()
    this.#connections.closeLate(limits.headerTimeout, limits.idleTimeout, (connection) => {
      if (this.#handshakes.end(connection)) return
      if (connection.http2 !== null) return connection.http2.refuse('the client is too slow')
      if (connection.http1 === null && this.#settings.priorKnowledge === true)
        return void connection.socket.destroy()
      if (connection.http1 === null)
        return this.#rejectProxyHeader(connection, 'the PROXY header did not arrive in time')
      connection.stop()
      this.#refuseMalformed(connection, headTimeout)
    })
    this.#connections.closeLateBlocks(limits.headerTimeout)
  }

  async close(drain: number): Promise<void> {
    this.#draining = true
    this.#connections.startClock()
    this.#handler.drain()
    this.#lingeringConnections.end(drain)
    // A response without a sent head announces the end of the connection; a later one cannot.
    for (const { exchanges } of this.#connections.active)
      for (const { response } of exchanges) if (!response.headersSent) response.shouldKeepAlive = false
    for (const { http2 } of this.#connections.all()) http2?.drain(false)
    const grace = Math.min(drain * GRACE_SHARE, MAX_GRACE)
    const checkTimer = setInterval(() => this.#connections.closeIdle(grace), DRAIN_CHECK_INTERVAL)
    const { ended } = await stopAccepting(this.#listening.map(({ server }) => server))
    // Set after the last accept, so that it covers all connections.
    const cutTimer = setTimeout(() => {
      for (const { socket } of this.#connections.all()) socket.destroy()
    }, drain)
    await ended
    clearInterval(checkTimer)
    clearInterval(this.#checkTimer)
    clearTimeout(cutTimer)
  }
}

function nameOf({ address, port, family }: AddressInfo): string {
  return family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`
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
