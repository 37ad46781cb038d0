/**
 * A client connection: its HTTP/1 state and its place among all connections. When there are too many, that state
 * decides which one is evicted.
 */

import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import {
  Http1Connection,
  type Http1ConnectionOwner,
  type Http1ConnectionSettings,
} from './http1-connection.ts'
import { Http2Connection, type Http2ConnectionOwner } from './http2-server-connection.ts'
import type { Http2Error } from '../wire/http2/http2-errors.ts'
import type { SessionSettings } from '../wire/http2/settings.ts'
import type { MalformedRequest } from '../wire/malformed-request.ts'
import type { DeferredQueue } from '../../lib/deferred-queue.ts'
import type { Entry } from '../../lib/ledger.ts'
import type { Queue, Queued } from '../../lib/queue.ts'
import type { RespondUnparsed } from './problem.ts'

/** Receives the events of all connections. */
export interface ClientConnectionOwner {
  headStarted(connection: ClientConnection): void
  headWithdrawn(connection: ClientConnection): void
  requestReceived(connection: ClientConnection, request: ClientRequest, response: ClientResponse): Exchange
  acceptsUpgrade(request: ClientRequest): boolean
  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void
  exchangeEnded(exchange: Exchange): void
  becameIdle(connection: ClientConnection): void
  memoryChanged(connection: ClientConnection, bytes: number): void
  malformed(connection: ClientConnection, fault: MalformedRequest): void
  /** A request of an HTTP/2 connection has no readable head. */
  malformedStream(connection: ClientConnection, fault: MalformedRequest, respond: RespondUnparsed): void
  /** An HTTP/2 connection is over because of its client. */
  sessionFailed(connection: ClientConnection, error: Http2Error): void
  /** The last response is sent, and the client may still be sending, or have read less than that. */
  linger(connection: ClientConnection): void
}

export class ClientConnection
  implements Queued<ClientConnection>, Http1ConnectionOwner, Http2ConnectionOwner
{
  /** With TLS: that of the decrypted bytes, from the end of the handshake on. */
  socket: Socket
  readonly #owner: ClientConnectionOwner
  #http1: Http1Connection | null = null
  #http2: Http2Connection | null = null
  /** The exchange of HTTP/1.1 in progress; null while there is none. */
  exchange: Exchange | null = null

  /** The queue of connections in the same state; null after the end of the connection. */
  queue: Queue<ClientConnection> | null = null
  previous: ClientConnection | null = null
  next: ClientConnection | null = null
  /** In the account of its address; null if the address does not identify the client. */
  entry: Entry<ClientConnection> | null = null
  /** Monotonic ms, approximate: the time of its arrival in the queue. */
  queuedAt = 0
  /** Bytes received up to the last time it was idle. */
  bytesReadWhenIdle = 0
  /** Buffered message bytes, as counted by `connection-memory.ts`. */
  heldBytes = 0
  /** The index in `InFlight` of the connections that hold bytes; -1 outside it. */
  index = -1
  /** The connection has left HTTP for a protocol with limits of its own. */
  isUpgraded = false
  /** Response bytes that the client has taken, and the monotonic ms since when it takes none; see `eviction.ts`. */
  bytesTaken = 0
  stalledSince = Infinity

  constructor(socket: Socket, owner: ClientConnectionOwner) {
    this.socket = socket
    this.#owner = owner
  }

  /** The client address; null if it does not identify the client. */
  get address(): string | null {
    return this.entry?.queue?.name ?? null
  }

  /** Starts to parse requests. */
  startHttp1(settings: Http1ConnectionSettings): void {
    this.#http1 = new Http1Connection(this.socket, settings, this)
  }

  /** Starts to read frames. */
  startHttp2(settings: SessionSettings, deferred: DeferredQueue): void {
    this.#http2 = new Http2Connection(this.socket, settings, deferred, this)
  }

  /** Requests are parsed. Before that, a PROXY header or a TLS handshake may be due. */
  get hasHttp(): boolean {
    return this.#http1 !== null || this.#http2 !== null
  }

  get http2(): Http2Connection | null {
    return this.#http2
  }

  /** All exchanges in progress. */
  get exchanges(): readonly Exchange[] {
    if (this.#http2 !== null) return this.#http2.exchanges
    return this.exchange === null ? [] : [this.exchange]
  }

  /** Nothing of the next request has arrived. */
  get awaitsRequest(): boolean {
    return this.#http2?.awaitsRequest ?? this.#http1?.awaitsRequest ?? this.socket.bytesRead === 0
  }

  /** Closes the connection between requests. */
  closeIdle(): void {
    if (this.#http2 === null) this.socket.destroySoon()
    else this.#http2.closeIdle()
  }

  /** Responds to the requests that have arrived, takes no other, and closes the connection. */
  dismiss(): void {
    if (this.awaitsRequest) return this.closeIdle()
    if (this.#http2 !== null) return this.#http2.drain(true)
    // A head that was sent has not announced the end of the connection: the next request may be under way.
    if (this.exchange === null || this.exchange.response.headersSent) this.socket.destroy()
    else this.exchange.response.shouldKeepAlive = false
  }

  /** Received bytes are not parsed yet: they may hold a request. */
  get hasUnreadBytes(): boolean {
    return this.#http1?.hasUnreadBytes ?? false
  }

  /** The client has to send a request, or the rest of a head. */
  get awaitsHead(): boolean {
    return this.#http1?.request === null
  }

  /** Drops pipelined bytes. @returns false if there are none to drop */
  dropPipelined(): boolean {
    return this.#http1?.dropPipelined() ?? false
  }

  /** Stops parsing requests. */
  stop(): void {
    this.#http1?.stop()
    this.#http2?.stop()
  }

  headStarted(): void {
    this.#owner.headStarted(this)
  }

  headWithdrawn(): void {
    this.#owner.headWithdrawn(this)
  }

  requestReceived(request: ClientRequest, response: ClientResponse): void {
    this.exchange = this.#owner.requestReceived(this, request, response)
  }

  acceptsUpgrade(request: ClientRequest): boolean {
    return this.#owner.acceptsUpgrade(request)
  }

  upgraded(request: ClientRequest, rest: Buffer): void {
    this.isUpgraded = true
    this.#http1 = null
    this.#owner.upgraded(this, request, rest)
  }

  exchangeEnded(): void {
    const { exchange } = this
    this.exchange = null
    if (exchange !== null) this.#owner.exchangeEnded(exchange)
  }

  http2RequestReceived(request: ClientRequest, response: ClientResponse): Exchange {
    return this.#owner.requestReceived(this, request, response)
  }

  http2ExchangeEnded(exchange: Exchange): void {
    this.#owner.exchangeEnded(exchange)
  }

  malformedStream(fault: MalformedRequest, respond: RespondUnparsed): void {
    this.#owner.malformedStream(this, fault, respond)
  }

  sessionFailed(error: Http2Error): void {
    this.#owner.sessionFailed(this, error)
  }

  becameIdle(): void {
    this.#owner.becameIdle(this)
  }

  memoryChanged(bytes: number): void {
    this.#owner.memoryChanged(this, bytes)
  }

  malformed(fault: MalformedRequest): void {
    this.#owner.malformed(this, fault)
  }

  closing(unread: boolean): void {
    if (unread) this.#owner.linger(this)
    else this.socket.destroySoon()
  }
}
