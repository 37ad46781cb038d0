/**
 * A client connection: its HTTP state and its place among all connections. When there are too many, that
 * state decides which one is evicted.
 */

import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import type { Http2Error } from '../wire/http2/http2-errors.ts'
import type { MalformedRequest } from '../wire/malformed-request.ts'
import type { Entry } from '../../lib/ledger.ts'
import type { Queue, Queued } from '../../lib/queue.ts'
import type { RespondUnparsed } from './problem.ts'

/** Receives the events of all connections. */
export interface ClientConnectionOwner {
  /** A part of a head has arrived, over HTTP/2 of a frame or field block, while no request was in flight. */
  headStarted(connection: ClientConnection): void
  /** What had arrived was no request. */
  headWithdrawn(connection: ClientConnection): void
  /** A complete head has arrived. */
  requestReceived(connection: ClientConnection, request: ClientRequest, response: ClientResponse): Exchange
  /** Whether the connection leaves HTTP with this request: `upgraded` then takes it over. */
  acceptsUpgrade(request: ClientRequest): boolean
  /**
   * @param rest bytes that arrived in the same read after the handshake. No one else listens to the socket
   */
  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void
  /** The response is sent, or the connection is closed. */
  exchangeEnded(exchange: Exchange): void
  /** The connection waits for the next request. */
  becameIdle(connection: ClientConnection): void
  /** The number of buffered message bytes has changed, apart from bytes that only pass. */
  memoryChanged(connection: ClientConnection, bytes: number): void
  /** The bytes form no valid request of HTTP/1.1, or not the announced body. Nothing more is read. */
  malformed(connection: ClientConnection, fault: MalformedRequest): void
  /** A request of an HTTP/2 connection has no readable head. The connection goes on. */
  malformedStream(connection: ClientConnection, fault: MalformedRequest, respond: RespondUnparsed): void
  /**
   * An HTTP/2 connection ends because of its client. GOAWAY is written, and the connection is closed next.
   */
  sessionFailed(connection: ClientConnection, error: Http2Error): void
  /** The last response is sent, and the client may still be sending, or have read less than that. */
  linger(connection: ClientConnection): void
}

/** What parses the requests of a connection. */
interface HttpSide {
  /** Nothing of the next request has arrived, and none is in flight. */
  readonly awaitsRequest: boolean
  /** Stops reading. The new owner of the connection sends the last response. */
  stop(): void
}

export interface Http1Side extends HttpSide {
  /** The request in progress: its response is not sent, or its body is not read to the end. */
  readonly request: ClientRequest | null
  /** Received bytes are not parsed yet: they may hold a request. */
  readonly hasUnreadBytes: boolean
  /**
   * Drops pipelined bytes if they are most of the buffered bytes and no body needs them. The current response
   * is then the last: pipelined requests are neither read nor answered.
   *
   * @returns false if nothing could be dropped
   */
  dropPipelined(): boolean
}

export interface Http2Side extends HttpSide {
  readonly exchanges: Exchange[]
  /** Closes the connection between requests. What a client does not read waits for a limited time. */
  closeIdle(): void
  /**
   * Asks the client for no more requests (RFC 9113, section 6.8).
   *
   * @param soon later ones are refused
   */
  drain(soon: boolean): void
  /** Ends the connection, as it is late or holds too much. */
  refuse(message: string): void
  /**
   * @returns whether the frame or field block that is arriving takes longer than `ms`: it holds up all other
   *   streams
   */
  isLate(now: number, ms: number): boolean
  /**
   * Gives up requests whose clients have stalled for this long.
   *
   * @param now monotonic ms
   */
  closeStalled(now: number, forMs: number): void
  /** Every request waits for the client, and has for this long. */
  isSlow(now: number, forMs: number): boolean
}

export class ClientConnection implements Queued<ClientConnection> {
  /** The socket. With TLS, the socket of the decrypted bytes from the end of the handshake on. */
  socket: Socket
  readonly owner: ClientConnectionOwner
  /** One of them, once requests are parsed. Before that, a PROXY header or a TLS handshake may be due. */
  http1: Http1Side | null = null
  http2: Http2Side | null = null
  /** The exchange of HTTP/1.1 in progress; null while there is none. */
  exchange: Exchange | null = null

  /** The queue of connections in the same state; null after the end of the connection. */
  queue: Queue<ClientConnection> | null = null
  previous: ClientConnection | null = null
  next: ClientConnection | null = null
  /** The entry in the account of its address; null if the address does not identify the client. */
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
  /** The response bytes that the client has taken, and the monotonic ms since which it takes none. */
  bytesTaken = 0
  stalledSince = Infinity

  constructor(socket: Socket, owner: ClientConnectionOwner) {
    this.socket = socket
    this.owner = owner
  }

  /** The client address; null if it does not identify the client. */
  get address(): string | null {
    return this.entry?.queue?.name ?? null
  }

  /** All exchanges in progress. */
  get exchanges(): readonly Exchange[] {
    if (this.http2 !== null) return this.http2.exchanges
    return this.exchange === null ? [] : [this.exchange]
  }

  /** Nothing of the next request has arrived. */
  get awaitsRequest(): boolean {
    return this.http2?.awaitsRequest ?? this.http1?.awaitsRequest ?? this.socket.bytesRead === 0
  }

  /** Closes the connection between requests. */
  closeIdle(): void {
    if (this.http2 === null) this.socket.destroySoon()
    else this.http2.closeIdle()
  }

  /** Responds to the requests that have arrived, takes no other, and closes the connection. */
  dismiss(): void {
    if (this.awaitsRequest) return this.closeIdle()
    if (this.http2 !== null) return this.http2.drain(true)
    // A head that was sent has not announced the end of the connection: the next request may be under way.
    if (this.exchange === null || this.exchange.response.headersSent) this.socket.destroy()
    else this.exchange.response.shouldKeepAlive = false
  }

  /** Received bytes are not parsed yet: they may hold a request. */
  get hasUnreadBytes(): boolean {
    return this.http1?.hasUnreadBytes ?? false
  }

  /** Stops parsing requests. */
  stop(): void {
    this.http1?.stop()
    this.http2?.stop()
  }

  /** The exchange of HTTP/1.1 is over. */
  exchangeEnded(): void {
    const { exchange } = this
    this.exchange = null
    if (exchange !== null) this.owner.exchangeEnded(exchange)
  }

  /**
   * The last response is sent.
   *
   * @param unread the client may still be sending, or has not read what was sent before
   */
  closing(unread: boolean): void {
    if (unread) this.owner.linger(this)
    else this.socket.destroySoon()
  }
}
