/**
 * The hop from the gateway to a target: what `forward.ts`, at this end of it, and `http1/`, which speaks on it, say to
 * each other.
 */

import type { Readable } from 'node:stream'
import type { FieldLine } from '../wire/field-line.ts'
import type { FieldLines } from '../wire/field-lines.ts'
import type { MayComeAgain } from '../../lib/made-of.ts'

/** Whose request it is: places at a target are shared out by tenant, and in it by caller. */
export interface RequestOwner {
  /** '' for a public route. */
  readonly tenant: string
  /** The user, or the address of a client that nobody knows. */
  readonly caller: string
}

export interface UpstreamRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** One behind the other; without Host and without framing. */
  readonly headers: readonly FieldLines[]
  /** In place of the target's own, when it is passed on; null: the target's. */
  readonly host: string | null
  /** null: none. `complete`: all of it has come from its client, be it read or not. */
  readonly body: (Readable & { readonly complete?: boolean }) | null
  /** Bytes of the body; Infinity: chunks, as nobody knows; null: not a word about it. */
  readonly length: number | null
}

/** What can be done to a request under way. */
export interface RequestControl {
  /** No more of the answer, for now. */
  pause(): void
  resume(): void
  /** Ends the connection with it; the receiver hears of it by `failed`, or not at all. */
  abort(error: Error): void
}

/** The head of an answer, or of an interim one. */
export interface ResponseHead extends MayComeAgain {
  readonly status: number
  readonly phrase: string
  /** As they came. */
  readonly lines: readonly FieldLine[]
}

/** Who hears what becomes of a request. Ends with `ended` or `failed`, once, and nothing is told after that. */
export interface ResponseReceiver {
  /** Asked for only while there are too few places. */
  readonly owner: RequestOwner
  /** A connection was had, and the request is written next. @returns false: it is no longer wanted, and this is its end */
  connected(hop: RequestControl): boolean
  /** Something of the request was written, or all of it. */
  requestProgress(): void
  /** The first bytes that may be an answer. */
  responseStarted(): void
  /** An interim answer (1xx), or the head of the answer. */
  head(head: ResponseHead): void
  /** @param chunk text: latin1, and all there is of the body */
  data(chunk: Buffer | string): void
  /** @param trailers name, value, … */
  ended(trailers: readonly string[]): void
  /** @param error of the connection, of what came on it, or the one given to `abort` */
  failed(error: Error): void
}

/** The connection ended or broke, or none could be had. */
export class ConnectionLost extends Error {
  /** It had carried an answer before. Servers close idle connections: this means nothing. */
  readonly afterUse: boolean
  readonly code: string

  constructor(message: string, code: string, afterUse: boolean, cause?: unknown) {
    super(message, { cause })
    this.afterUse = afterUse
    this.code = code
  }
}

/** What came is no HTTP/1.1, or could be read in two ways. */
export class ProtocolError extends Error {
  readonly code = 'UPSTREAM_PROTOCOL'
}

/** The upstream left its answer standing still in the midst of it. */
export class BodyTimeout extends Error {
  readonly code = 'UPSTREAM_BODY_TIMEOUT'
}

/** Something in the request can't be written. Only bytes of the client's can do that. */
export class NotForwardable extends Error {
  readonly code = 'NOT_FORWARDABLE'
}

/** The client is too slow, at sending or at reading, and others wait for the connection that it holds. */
export class SlowClient extends Error {
  readonly code = 'SLOW_CLIENT'
}

/** Others wait for the place that it holds, or waits for, and its caller has more of them than they. */
export class Evicted extends Error {
  readonly code = 'DISPLACED'

  constructor() {
    super('others wait, and the caller holds more places than they')
  }
}

/** The connections were closed from here. */
export class ClientClosed extends Error {
  readonly code = 'CLIENT_CLOSED'
}
