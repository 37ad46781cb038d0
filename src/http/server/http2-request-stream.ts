/** One request of an HTTP/2 connection, and its response. Events of its stream become its own. */

import type { Socket } from 'node:net'
import { inBatch } from '../../lib/batched-steps.ts'
import { NO_ERROR } from '../wire/http2/http2-errors.ts'
import { checkRequestTrailers } from '../wire/http2/request-list.ts'
import type { Http2Stream, StreamReceiver } from '../wire/http2/stream.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import type { RequestHead } from '../wire/request-parser.ts'
import { type BodyFlow, ClientRequest } from './client-request.ts'
import type { Exchange } from './exchange.ts'
import { Http2Response, type Http2ResponseOwner } from './http2-response.ts'
import { StreamProgress } from './stream-progress.ts'

/** The connection of a request. */
export interface RequestStreamOwner {
  readonly socket: Socket
  /** More bytes, or fewer, wait for the client. */
  buffered(): void
  /** The response is sent or given up. */
  exchangeEnded(exchange: Exchange, request: Http2RequestStream): void
}

export class Http2RequestStream implements StreamReceiver, BodyFlow, Http2ResponseOwner {
  readonly request: ClientRequest
  readonly response: Http2Response
  readonly stream: Http2Stream
  readonly id: number
  /** Bytes of target and header section, which are in memory as long as this is. */
  readonly headBytes: number
  exchange: Exchange | null = null
  /** Body bytes that the announced length still admits. */
  #remaining: number
  readonly #owner: RequestStreamOwner
  readonly #progress: StreamProgress
  /** The rest of the body is not read, once the response is sent. */
  #abandoned = false
  /** Counted at the stream. */
  #heldBytes = 0

  constructor(head: RequestHead, stream: Http2Stream, owner: RequestStreamOwner) {
    this.stream = stream
    this.id = stream.id
    this.headBytes = head.target.length + head.section.fields.bytes
    this.#owner = owner
    this.#progress = new StreamProgress(stream)
    this.request = new ClientRequest(head, this)
    this.#remaining = this.request.length
    if (this.#remaining !== 0) stream.pause()
    this.response = new Http2Response(head.method, stream, this)
  }

  get socket(): Socket {
    return this.#owner.socket
  }

  data(chunk: Buffer): void {
    this.#remaining -= chunk.length
    // RFC 9113, section 8.1.1.
    if (this.#remaining < 0) this.#breakOff()
    else this.request.receive(chunk)
  }

  ended(): void {
    if (this.#remaining > 0 && this.#remaining !== Infinity) this.#breakOff()
    else if (!this.request.complete) this.request.receiveEnd()
  }

  /** Trailers: they are checked and dropped. */
  headers(fields: readonly string[], complete: boolean): void {
    try {
      if (!complete) throw new MalformedRequest('large-head', 'The trailers are larger than the limit.')
      checkRequestTrailers(fields)
    } catch (error) {
      if (!(error instanceof MalformedRequest)) throw error
      this.#breakOff()
    }
  }

  responseBlocked(): void {
    this.#owner.buffered()
  }

  drained(): void {
    if (!this.response.destroyed) this.response.drained()
  }

  /** The response has left. A client that still sends is told to stop (RFC 9113, section 8.1). */
  flushed(): void {
    if (this.response.writableFinished) return
    this.#end(true)
    const { remoteEnded } = this.stream
    if (!remoteEnded && (this.#abandoned || this.request.complete || !this.request.hasSink))
      this.stream.reset(NO_ERROR)
  }

  failed(): void {
    this.#end(false)
    this.request.connectionClosed()
  }

  responseAborted(): void {
    inBatch(failed, this)
  }

  /** The client has broken the rules of this stream. */
  #breakOff(): void {
    this.stream.violate()
    this.response.destroyed = true
    inBatch(failed, this)
  }

  #end(complete: boolean): void {
    const { exchange } = this
    if (exchange === null) return
    this.exchange = null
    this.response.finish(complete)
    this.#owner.exchangeEnded(exchange, this)
  }

  pause(): void {
    this.stream.pause()
  }

  resume(): void {
    this.stream.resume()
  }

  abandon(): void {
    this.#abandoned = true
    if (this.response.writableFinished) this.stream.reset(NO_ERROR)
  }

  heldChanged(): void {
    const { heldBytes } = this.request
    this.stream.holds(heldBytes - this.#heldBytes)
    this.#heldBytes = heldBytes
    this.#owner.buffered()
  }

  /**
   * The monotonic ms since which the client neither sends nor reads what the gateway waits for; Infinity if
   * it waits for nothing.
   */
  stalledSince(now: number): number {
    const { request, stream } = this
    return this.#progress.stalledSince(stream.isWaiting || (!request.complete && !request.paused), now)
  }
}

function failed(stream: Http2RequestStream): void {
  stream.failed()
}
