/**
 * A client's connection: what is being said on it, and its place among the others. When there are too many, what one is
 * doing decides who has to go. Made by `front.ts`, which hears from here what concerns all of them.
 */

import type { Socket } from 'node:net'
import type { Exchange } from './exchange.ts'
import type { ClientRequest } from './client-request.ts'
import type { ClientResponse } from './client-response.ts'
import { Conversation, type ConversationOwner, type ConversationSettings } from './http1-connection.ts'
import type { RequestFault } from '../wire/malformed-request.ts'
import type { AddressShare } from './address-shares.ts'
import type { Holder } from './connection-memory.ts'
import type { Queue, Queued } from './queue.ts'

/** Who is told, of all connections. */
export interface ConnectionOwner {
  beginning(connection: Connection): void
  asked(connection: Connection, request: ClientRequest, response: ClientResponse): void
  upgrades(request: ClientRequest): boolean
  upgraded(connection: Connection, request: ClientRequest, rest: Buffer): void
  ended(exchange: Exchange): void
  answered(connection: Connection): void
  holds(connection: Connection, bytes: number): void
  unreadable(connection: Connection, fault: RequestFault): void
  /** It has its last answer, and its client may be sending still. */
  parted(connection: Connection): void
}

export class Connection implements Queued<Connection>, Holder<Connection>, ConversationOwner {
  readonly socket: Socket
  readonly #owner: ConnectionOwner
  #conversation: Conversation | null = null
  /** What is being answered; null while nothing is. */
  exchange: Exchange | null = null

  /** Those that do what this one does; null once it is gone. */
  queue: Queue<Connection> | null = null
  before: Connection | null = null
  after: Connection | null = null
  /** All connections of its client's address; null where the address says nothing of the client. */
  share: AddressShare<Connection> | null = null
  /** Monotonic ms: when it came to its queue, about. */
  since = 0
  /** Bytes that had come when it was last idle. */
  read = 0
  /** Bytes of messages that are held for it, as `connection-memory.ts` counts them. */
  held = 0
  /** Another protocol is spoken here, which has its own limits. */
  isUpgraded = false
  /** Bytes of answers that the client has taken, and monotonic ms since when it takes no more; see `slow.ts`. */
  taken = 0
  behind = Infinity

  constructor(socket: Socket, owner: ConnectionOwner) {
    this.socket = socket
    this.#owner = owner
  }

  /** From now on, requests are read from it. */
  converse(settings: ConversationSettings): void {
    this.#conversation = new Conversation(this.socket, settings, this)
  }

  /** Whether requests are read from it; before that, it may have to announce its client. */
  get converses(): boolean {
    return this.#conversation !== null
  }

  /** Nothing of a request has come. */
  get quiet(): boolean {
    return this.#conversation?.quiet ?? this.socket.bytesRead === 0
  }

  /** What has come is not looked at yet: it may be a request. */
  get hasNews(): boolean {
    return this.#conversation?.hasNews ?? false
  }

  /** What was kept for the next request is given up: it may not come for long. */
  forget(): void {
    this.#conversation?.forget()
  }

  /** It is for its client to send a request, or the rest of a head. */
  get awaitsHead(): boolean {
    return this.#conversation?.request === null
  }

  /** What its client has sent ahead is given up. @returns false: there is nothing that could be */
  giveUpAhead(): boolean {
    return this.#conversation?.giveUpAhead() ?? false
  }

  /** No more requests are read from it. */
  stop(): void {
    this.#conversation?.stop()
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
    this.#conversation = null
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

  unreadable(fault: RequestFault): void {
    this.#owner.unreadable(this, fault)
  }

  over(unread: boolean): void {
    if (unread) this.#owner.parted(this)
    else this.socket.destroySoon()
  }
}
