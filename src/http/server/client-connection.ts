/**
 * A client's connection: what is being said on it, and its place among the others. When there are too many, what one is
 * doing decides who has to go.
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
import type { MalformedRequest } from '../wire/malformed-request.ts'
import type { AddressShare } from './address-shares.ts'
import type { MemoryHolder } from './connection-memory.ts'
import type { Queue, Queued } from './queue.ts'

/** Who is told, of all connections. */
export interface ClientConnectionOwner {
  headStarted(connection: ClientConnection): void
  requestReceived(connection: ClientConnection, request: ClientRequest, response: ClientResponse): void
  acceptsUpgrade(request: ClientRequest): boolean
  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void
  exchangeEnded(exchange: Exchange): void
  becameIdle(connection: ClientConnection): void
  memoryChanged(connection: ClientConnection, bytes: number): void
  malformed(connection: ClientConnection, fault: MalformedRequest): void
  /** It has its last answer, and its client may be sending still. */
  linger(connection: ClientConnection): void
}

export class ClientConnection
  implements Queued<ClientConnection>, MemoryHolder<ClientConnection>, Http1ConnectionOwner
{
  readonly socket: Socket
  readonly #owner: ClientConnectionOwner
  #http1: Http1Connection | null = null
  /** What is being answered; null while nothing is. */
  exchange: Exchange | null = null

  /** Those that do what this one does; null once it is gone. */
  queue: Queue<ClientConnection> | null = null
  previous: ClientConnection | null = null
  next: ClientConnection | null = null
  /** All connections of its client's address; null where the address says nothing of the client. */
  share: AddressShare<ClientConnection> | null = null
  /** Monotonic ms: when it came to its queue, about. */
  queuedAt = 0
  /** Bytes that had come when it was last idle. */
  bytesReadWhenIdle = 0
  /** Bytes of messages that are held for it, as `connection-memory.ts` counts them. */
  heldBytes = 0
  /** Another protocol is spoken here, which has its own limits. */
  isUpgraded = false
  /** Bytes of answers that the client has taken, and monotonic ms since when it takes no more; see `slow-client.ts`. */
  bytesTaken = 0
  stalledSince = Infinity

  constructor(socket: Socket, owner: ClientConnectionOwner) {
    this.socket = socket
    this.#owner = owner
  }

  /** From now on, requests are read from it. */
  startHttp1(settings: Http1ConnectionSettings): void {
    this.#http1 = new Http1Connection(this.socket, settings, this)
  }

  /** Whether requests are read from it; before that, it may have to announce its client. */
  get hasHttp1(): boolean {
    return this.#http1 !== null
  }

  /** Nothing of a request has come. */
  get quiet(): boolean {
    return this.#http1?.quiet ?? this.socket.bytesRead === 0
  }

  /** What has come is not looked at yet: it may be a request. */
  get hasUnreadBytes(): boolean {
    return this.#http1?.hasUnreadBytes ?? false
  }

  /** What was kept for the next request is given up: it may not come for long. */
  forget(): void {
    this.#http1?.forget()
  }

  /** It is for its client to send a request, or the rest of a head. */
  get awaitsHead(): boolean {
    return this.#http1?.request === null
  }

  /** What its client has sent ahead is given up. @returns false: there is nothing that could be */
  dropPipelined(): boolean {
    return this.#http1?.dropPipelined() ?? false
  }

  /** No more requests are read from it. */
  stop(): void {
    this.#http1?.stop()
  }

  headStarted(): void {
    this.#owner.headStarted(this)
  }

  requestReceived(request: ClientRequest, response: ClientResponse): void {
    this.#owner.requestReceived(this, request, response)
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
