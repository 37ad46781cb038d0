/**
 * A request to a target and the events of its response: the interface between the proxy and the connections
 * to a target.
 */

import type { Readable } from 'node:stream'
import type { FieldLines } from '../wire/field-lines.ts'
import type { FieldTable } from '../wire/field-table.ts'

/**
 * The owner of a request, as of a ledger: the tenant, '' for a public route; and the user, or the network of
 * an unauthenticated client. Slots at a target are shared among tenants, and among the callers of a tenant.
 */
export type RequestOwner = readonly [tenant: string, caller: string]

export interface UpstreamRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** The header lines in order, without Host and framing fields. */
  readonly headers: readonly FieldLines[]
  /** The Host of the client if it is passed on; null for the authority of the target. */
  readonly host: string | null
  /** The body, or null. `complete`: the whole body has arrived from the client, read or unread. */
  readonly body: (Readable & { readonly complete?: boolean }) | null
  /** The body length in bytes; Infinity for chunked; null to announce none. */
  readonly length: number | null
  /**
   * A call of gRPC: its bodies may be streams that answer each other, so that a byte of either is progress of
   * both.
   */
  readonly grpc?: boolean
}

/** Controls a request in flight. */
export interface RequestControl {
  /** Stops reading the response for now. */
  pause(): void
  resume(): void
  /** Closes the connection, or resets the stream. The receiver gets `failed`, or no further call. */
  close(error: Error): void
}

/** The head of a final or interim response. */
export interface ResponseHead {
  readonly status: number
  readonly phrase: string
  readonly fields: FieldTable
}

/** Receives the events of a request. `ended` or `failed` comes once, and last. */
export interface ResponseReceiver {
  /** Read only while slots are scarce. */
  readonly owner: RequestOwner
  /**
   * A connection is available, and the request is written next.
   *
   * @returns false if the request is cancelled; no further call follows
   */
  connected(control: RequestControl): boolean
  /** A part of the request, or all of it, was written. */
  requestProgress(): void
  /** The first bytes after the request have arrived. */
  responseStarted(): void
  /** An interim (1xx) or the final response. */
  head(head: ResponseHead): void
  /** @param chunk a string is the whole body as latin1 */
  data(chunk: Buffer | string): void
  /** @param trailers name, value, … */
  ended(trailers: readonly string[]): void
  /** @param error of the connection or the protocol, or the argument of `close` */
  failed(error: Error): void
}

/** The connection was closed or reset, or could not be opened. */
export class ConnectionLost extends Error {
  /**
   * The connection had carried a response before. Servers close idle connections, so this is no fault of the
   * target.
   */
  readonly afterUse: boolean
  readonly code: string

  constructor(message: string, code: string, afterUse: boolean, cause?: unknown) {
    super(message, { cause })
    this.afterUse = afterUse
    this.code = code
  }
}

/** @param timeout ms */
export function notConnected(timeout: number): ConnectionLost {
  return new ConnectionLost(`no connection within ${timeout} ms`, 'UPSTREAM_CONNECT_TIMEOUT', false)
}

/** The response is malformed or ambiguous. */
export class ProtocolError extends Error {
  readonly code: string = 'UPSTREAM_PROTOCOL'
}

/** The target does not speak HTTP/2, which it is configured to do. */
export class NoHttp2 extends ProtocolError {
  override readonly code = 'UPSTREAM_NO_HTTP2'

  constructor(cause: string) {
    super(`the target does not speak HTTP/2: ${cause}`)
  }
}

/**
 * The target has not processed the request (RFC 9113, sections 6.8 and 8.7): it reset the stream with
 * REFUSED_STREAM, or closes the connection, and the stream is none of those that it still serves. The request
 * may be sent again.
 */
export class Unprocessed extends Error {
  readonly code = 'UPSTREAM_UNPROCESSED'
  /** The connection is being closed: an event of operation, which says nothing about the target's load. */
  readonly goingAway: boolean
  /** Nothing of the request body is taken, so that the whole request can be sent again. */
  readonly intact: boolean

  constructor(goingAway: boolean, intact: boolean) {
    super(goingAway ? 'the connection is closed before this request' : 'the target refused the stream')
    this.goingAway = goingAway
    this.intact = intact
  }
}

/** The upstream stopped inside a response body. */
export class BodyTimeout extends Error {
  readonly code = 'UPSTREAM_BODY_TIMEOUT'
}

/** The request cannot be serialized. Only bytes of the client cause this. */
export class NotForwardable extends Error {
  readonly code = 'NOT_FORWARDABLE'
}

/** The client is too slow at sending or reading while other requests wait for a connection. */
export class SlowClient extends Error {
  readonly code = 'SLOW_CLIENT'
}

/** Other requests wait for a slot, and the owner of this one holds or waits for more slots than theirs. */
export class Evicted extends Error {
  readonly code = 'DISPLACED'

  constructor() {
    super('evicted for a request of another owner that holds fewer slots')
  }
}

/** The gateway closes its connections. */
export class ClientClosed extends Error {
  readonly code = 'CLIENT_CLOSED'
}
