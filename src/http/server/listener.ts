/** The front door: the listener that requests come in by. Knows HTTP's limits and times, nothing of routes. */

import { randomUUID } from 'node:crypto'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import type { Address } from '../../config/config.ts'
import type { Refusal } from '../../model/errors.ts'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import type { Http1ConnectionSettings, KeepTime } from './http1-connection.ts'
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
import { addressFull, full, refusalOf, tooMuch, tooSlow } from './connection-refusal.ts'

/** Milliseconds between two looks for clients that are late, and, at the end, for connections that are quiet. */
const LOOK = 1000
const LAST_LOOK = 25
/** Milliseconds, and the share of the drain, that a kept connection may bring one more request in. */
const MOST_GRACE = 2000
const GRACE_SHARE = 1 / 15

/** Milliseconds for connections that there is no room for: of their requests nothing is read. */
const REFUSED: LingeringLimits = { most: 256, time: 1000, idle: 1000 }

/** Says the last answer on a connection, and closes it when its client has done so, or after a while. */
export type Part = (last: string) => void

/** Who answers. */
export interface Handler {
  /** Returns at once. */
  handle(request: ClientRequest, response: ClientResponse): Exchange
  /** Whether it asks for a WebSocket, and its connection is to be given to `upgrade`. */
  upgrades(request: ClientRequest): boolean
  /** @param rest what came behind it in the same read */
  upgrade(request: ClientRequest, rest: Buffer): Exchange
  /** Its answer is out, or its connection is gone; not for what was upgraded. */
  ended(exchange: Exchange): void
  /** No new connections: WebSockets are to end. Those that are left when the drain is over are cut. */
  drain(): void
  /** What came is no request, or not the body that this one has announced. */
  unreadable(socket: Socket, refusal: Refusal, exchange: Exchange | null, part: Part): void
}

/** Resolves once connections are accepted. Rejects with Node's error when the address can't be had. */
export async function openRequestListener(
  address: Address,
  handler: Handler,
  options: ListenerOptions,
): Promise<RequestListener> {
  const front = new FrontDoor(handler, options)
  await front.listen(address, options.shared ?? false)
  return front
}

class FrontDoor implements RequestListener, ClientConnectionOwner {
  readonly #handler: Handler
  readonly #watch: ListenerEvents
  readonly #server: Server
  readonly #connections: Connections
  /** They have answers, and are no longer among the connections. */
  readonly #lingeringConnections: LingeringConnections
  readonly #refusals = new LingeringConnections(REFUSED)
  readonly #memory: ConnectionMemory<ClientConnection>
  #settings: ListenerSettings
  #http1Connections: Http1ConnectionSettings
  #draining = false
  /** Of all connections, whichever settings they have begun with. */
  readonly #kept: KeepTime
  readonly #look: NodeJS.Timeout

  constructor(handler: Handler, { settings, watch }: ListenerOptions) {
    this.#handler = handler
    this.#watch = watch
    this.#settings = settings
    this.#kept = { seconds: keptFor(settings) }
    this.#http1Connections = conversationSettings(settings, new DeferredQueue(), this.#kept)
    this.#connections = new Connections(settings.limits, (state) => watch.evicted(state))
    this.#lingeringConnections = new LingeringConnections(partingLimits(settings))
    this.#memory = new ConnectionMemory(settings.memory, (connection) => this.#relieve(connection))
    this.#server = createServer({ noDelay: true, allowHalfOpen: true }, (socket) => this.#accept(socket))
    this.#look = setInterval(() => this.#lookForLate(), LOOK).unref()
  }

  async listen(address: Address, shared: boolean): Promise<void> {
    await listen(this.#server, address, shared)
    this.#server.on('error', (cause) => this.#watch.unavailable(cause))
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

  /** Sizes count for connections from now on, times for all. */
  use(settings: ListenerSettings): void {
    this.#settings = settings
    this.#kept.seconds = keptFor(settings)
    this.#http1Connections = conversationSettings(settings, this.#http1Connections.deferred, this.#kept)
    this.#connections.use(settings.limits)
    this.#lingeringConnections.use(partingLimits(settings))
    this.#memory.use(settings.memory)
  }

  #accept(socket: Socket): void {
    const { proxyProtocol, clientOf } = this.#settings
    const connection = new ClientConnection(socket, this)
    const refusedBy = this.#connections.admit(
      connection,
      proxyProtocol ? null : clientOf(socket.remoteAddress),
    )
    if (refusedBy !== null) return this.#refuse(connection, refusedBy)
    if (proxyProtocol) this.#announced(connection)
    else connection.converse(this.#http1Connections)
  }

  /** Nothing of it is read. */
  #refuse(connection: ClientConnection, by: RefusedBy): void {
    const { socket } = connection
    this.#watch.refused(by)
    this.#connections.parted(connection)
    socket.on('error', () => {})
    this.#refusals.part(socket, rawProblem(by === 'address' ? addressFull : full, randomUUID()))
  }

  #announced(connection: ClientConnection): void {
    const { socket } = connection
    if (!this.#settings.trusts(socket.remoteAddress))
      return this.#unannounced(connection, 'the peer is not in trusted_proxies')
    readProxyHeader(socket, (reason) => {
      if (reason !== null) return this.#unannounced(connection, reason)
      // The address is the client's from here on.
      if (!this.#connections.identify(connection, this.#settings.clientOf(socket.remoteAddress)))
        return this.#refuse(connection, 'address')
      // The header is no part of a request.
      connection.read = socket.bytesRead - socket.readableLength
      connection.converse(this.#http1Connections)
    })
  }

  /** It is told nothing: whoever it is, it is not who is expected here. */
  #unannounced({ socket }: ClientConnection, reason: string): void {
    this.#watch.unannounced(reason, socket.remoteAddress)
    socket.destroy()
  }

  beginning(connection: ClientConnection): void {
    this.#connections.beginning(connection)
  }

  asked(connection: ClientConnection, request: ClientRequest, response: ClientResponse): void {
    this.#connections.begun(connection)
    if (this.#draining) response.shouldKeepAlive = false
    connection.exchange = this.#handler.handle(request, response)
  }

  ended(exchange: Exchange): void {
    this.#handler.ended(exchange)
  }

  answered(connection: ClientConnection): void {
    this.#connections.answered(connection)
  }

  holds(connection: ClientConnection, bytes: number): void {
    this.#memory.holds(connection, bytes)
  }

  #relieve(connection: ClientConnection): void {
    const { socket } = connection
    if (connection.giveUpAhead()) return this.#watch.relieved('ahead')
    if (connection.awaitsHead) {
      this.#watch.relieved('head')
      connection.stop()
      return this.#refuseUnreadable(connection, tooMuch)
    }
    this.#watch.relieved('request')
    socket.destroy()
    this.#memory.holds(connection, 0)
  }

  /** What WebSockets have not taken: a look a second will do, as their upstreams stop before it is much of each. */
  #countUpgraded(): void {
    for (const connection of this.#connections.upgraded())
      this.#memory.holds(connection, connection.socket.destroyed ? 0 : connection.socket.writableLength)
  }

  upgrades(request: ClientRequest): boolean {
    return this.#handler.upgrades(request)
  }

  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void {
    this.#connections.begun(connection)
    connection.exchange = this.#handler.upgrade(request, rest)
    connection.socket.once('close', () => this.#memory.holds(connection, 0))
  }

  unreadable(connection: ClientConnection, fault: MalformedRequest): void {
    this.#refuseUnreadable(connection, refusalOf(fault))
  }

  #refuseUnreadable(connection: ClientConnection, refusal: Refusal): void {
    const { socket, exchange } = connection
    this.#handler.unreadable(socket, refusal, exchange, (last) => this.parted(connection, last))
  }

  parted(connection: ClientConnection, last = ''): void {
    this.#connections.parted(connection)
    this.#lingeringConnections.part(connection.socket, last)
  }

  #lookForLate(): void {
    const { limits, stall } = this.#settings
    this.#connections.cutStalled(stall)
    this.#countUpgraded()
    this.#connections.cutLate(limits.headerTimeout, limits.idleTimeout, (connection) => {
      if (!connection.converses)
        return this.#unannounced(connection, 'its PROXY header did not arrive in time')
      connection.stop()
      this.#refuseUnreadable(connection, tooSlow)
    })
  }

  async close(drain: number): Promise<void> {
    this.#draining = true
    this.#connections.startClock()
    this.#handler.drain()
    this.#lingeringConnections.end(drain)
    for (const { exchange } of this.#connections.active) if (exchange !== null) endAfter(exchange)
    const grace = Math.min(drain * GRACE_SHARE, MOST_GRACE)
    const look = setInterval(() => this.#connections.closeQuiet(grace), LAST_LOOK)
    const { ended } = await stopAccepting(this.#server)
    // Only now: who came in between would not be cut.
    const cut = setTimeout(() => this.#connections.closeAll(), drain)
    await ended
    clearInterval(look)
    clearInterval(this.#look)
    clearTimeout(cut)
  }
}

function conversationSettings(
  { limits: { headerBytes } }: ListenerSettings,
  deferred: DeferredQueue,
  kept: KeepTime,
): Http1ConnectionSettings {
  return { grammar: requestGrammar(headerBytes), headerBytes, kept, deferred }
}

/** A client that was refused has no more time than one whose body is taken. */
function partingLimits({ limits }: ListenerSettings): LingeringLimits {
  const { lingeringConnections: most, lingeringTime: time, lingeringTimeout, bodyTimeout } = limits
  return { most, time, idle: Math.min(lingeringTimeout, bodyTimeout) }
}

function keptFor({ limits }: ListenerSettings): number {
  return Math.floor(limits.idleTimeout / 1000)
}

/** An answer that has not begun tells the client that it is the last; one that has begun can't any more. */
function endAfter({ response }: Exchange): void {
  if (!response.headersSent) response.shouldKeepAlive = false
}
