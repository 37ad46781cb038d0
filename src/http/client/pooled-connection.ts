/** A connection to a target, over HTTP/1.1 or HTTP/2, and its pool, as they see each other. */

import type { Address } from './connector.ts'
import type { RequestSlot } from './slot-eviction.ts'
import type { Suspects } from './suspects.ts'
import type { ResponseReceiver, UpstreamRequest } from './upstream-request.ts'

export interface ConnectionSettings extends Address {
  /** The host and port of the target, for Host. */
  readonly authority: string
  /** All in ms. */
  readonly connectTimeout: number
  readonly bodyTimeout: number
  /** The idle timeout, unless the target announces its own; `keepAliveMax` bounds that. */
  readonly keepAlive: number
  readonly keepAliveMax: number
  /** Requests of an HTTP/2 connection at once; `MAX_STREAMS` where it is absent. */
  readonly streams?: number
  /** Learns whose requests were in flight when the target ended a connection of HTTP/2 with an error. */
  readonly suspects?: Suspects
}

export interface PooledConnection {
  /** Another request may be sent: over HTTP/1.1 one at a time. */
  readonly hasRoom: boolean
  /** How many may; 0 before it is open. */
  readonly room: number
  /** How many requests may be in flight at once. */
  readonly capacity: number
  /** Whether a body would be sent. Over HTTP/2, unread bodies may have used up the window that all share. */
  readonly hasWindow: boolean
  /** It is open, and no request is in flight. */
  readonly isIdle: boolean
  /** Monotonic ms: an idle connection is not used from then on. */
  readonly expiresAt: number
  /** The requests in flight; over HTTP/1.1 there is one slot, which may be free. */
  readonly slots: Iterable<RequestSlot>
  /** Among the free connections of the pool. Only the pool writes it. */
  isListed: boolean
  /**
   * Sends a request, where there is room.
   *
   * @param uploads the request holds an upload slot
   */
  send(request: UpstreamRequest, receiver: ResponseReceiver, uploads: boolean): void
  /**
   * Called from time to time. Looks for a target that is gone without a trace, or that does not read.
   *
   * @param now monotonic ms
   */
  checkAlive(now: number): void
  /** Closes the connection in any state. The receivers of requests in flight get `failed`. */
  close(error: Error): void
}

export interface ConnectionOwner {
  /** The connection may take a request, or another one. */
  connectionReady(connection: PooledConnection): void
  /** The connection takes no further request; those in flight go on. Only over HTTP/2. */
  connectionDraining(connection: PooledConnection): void
  /** The connection is closed. Before `connectionReady` this means that it could not be opened. */
  connectionClosed(connection: PooledConnection, error: Error): void
  /** The connection was found closed before anything of this request was written. */
  requestReturned(request: UpstreamRequest, receiver: ResponseReceiver): void
  /** An upload slot is free: the body is completely written, or never will be. */
  uploadFinished(): void
}
