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
import type { Holder } from './connection-memory.ts'
import type { Queue, Queued } from './queue.ts'

/** Who is told, of all connections. */
export interface ClientConnectionOwner {
  beginning(connection: ClientConnection): void
  asked(connection: ClientConnection, request: ClientRequest, response: ClientResponse): void
  upgrades(request: ClientRequest): boolean
  upgraded(connection: ClientConnection, request: ClientRequest, rest: Buffer): void
  ended(exchange: Exchange): void
  answered(connection: ClientConnection): void
  holds(connection: ClientConnection, bytes: number): void
  unreadable(connection: ClientConnection, fault: MalformedRequest): void
  /** It has its last answer, and its client may be sending still. */
  parted(connection: ClientConnection): void
}

export class ClientConnection
  implements Queued<ClientConnection>, Holder<ClientConnection>, Http1ConnectionOwner
{
  readonly socket: Socket
  readonly #owner: ClientConnectionOwner
  #http1: Http1Connection | null = null
  /** What is being answered; null while nothing is. */
  exchange: Exchange | null = null

  /** Those that do what this one does; null once it is gone. */
  queue: Queue<ClientConnection> | null = null
  before: ClientConnection | null = null
  after: ClientConnection | null = null
  /** All connections of its client's address; null where the address says nothing of the client. */
  share: AddressShare<ClientConnection> | null = null
  /** Monotonic ms: when it came to its queue, about. */
  since = 0
  /** Bytes that had come when it was last idle. */
  read = 0
  /** Bytes of messages that are held for it, as `connection-memory.ts` counts them. */
  held = 0
  /** Another protocol is spoken here, which has its own limits. */
  isUpgraded = false
  /** Bytes of answers that the client has taken, and monotonic ms since when it takes no more; see `slow-client.ts`. */
  taken = 0
  behind = Infinity

  constructor(socket: Socket, owner: ClientConnectionOwner) {
    this.socket = socket
    this.#owner = owner
  }

  /** From now on, requests are read from it. */
  converse(settings: Http1ConnectionSettings): void {
    this.#http1 = new Http1Connection(this.socket, settings, this)
  }

  /** Whether requests are read from it; before that, it may have to announce its client. */
  get converses(): boolean {
    return this.#http1 !== null
  }

  /** Nothing of a request has come. */
  get quiet(): boolean {
    return this.#http1?.quiet ?? this.socket.bytesRead === 0
  }

  /** What has come is not looked at yet: it may be a request. */
  get hasNews(): boolean {
    return this.#http1?.hasNews ?? false
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
  giveUpAhead(): boolean {
    return this.#http1?.giveUpAhead() ?? false
  }

  /** No more requests are read from it. */
  stop(): void {
    this.#http1?.stop()
  }

  beginning(): void {
    this.#owner.beginning(this)
  }

  asked(request: ClientRequest, response: ClientResponse): void {
    this.#owner.asked(this, request, response)
  }

  upgrades(request: ClientRequest): boolean {
    return this.#owner.upgrades(request)
  }

  upgraded(request: ClientRequest, rest: Buffer): void {
    this.isUpgraded = true
    this.#http1 = null
    this.#owner.upgraded(this, request, rest)
  }

  ended(): void {
    const { exchange } = this
    this.exchange = null
    if (exchange !== null) this.#owner.ended(exchange)
  }

  answered(): void {
    this.#owner.answered(this)
  }

  holds(bytes: number): void {
    this.#owner.holds(this, bytes)
  }

  unreadable(fault: MalformedRequest): void {
    this.#owner.unreadable(this, fault)
  }

  over(unread: boolean): void {
    if (unread) this.#owner.parted(this)
    else this.socket.destroySoon()
  }
}
