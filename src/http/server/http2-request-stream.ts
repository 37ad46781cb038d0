/** One request of an HTTP/2 connection, and its response: the events of its stream as those of a request. */

import type { Socket } from 'node:net'
import { nextStage } from '../../lib/batched-stages.ts'
import { FieldLines } from '../wire/field-lines.ts'
import { INTERNAL_ERROR, NO_ERROR } from '../wire/http2/http2-errors.ts'
import { checkRequestTrailers } from '../wire/http2/request-list.ts'
import type { Http2Stream, StreamReceiver } from '../wire/http2/stream.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import type { RequestHead } from '../wire/request-parser.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import { type BodyFlow, ClientRequest } from './client-request.ts'
import type { Exchange } from './exchange.ts'
import { bodyFraming, ClientResponse, dateLine } from './client-response.ts'

/** The connection of a request. */
export interface RequestStreamOwner {
  readonly socket: Socket
  /** More bytes, or fewer, wait for the client. */
  buffered(): void
  /** The response is sent or given up. */
  exchangeEnded(exchange: Exchange, request: Http2RequestStream): void
}

export class Http2RequestStream implements StreamReceiver, BodyFlow {
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

  /** Bytes wait for the client. */
  responseBlocked(): void {
    this.#owner.buffered()
  }

  drained(): void {
    if (!this.response.destroyed) this.response.drained()
  }

  /** The response is with the operating system. A client that still sends is told to stop (RFC 9113, section 8.1). */
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

  /** The gateway has given the response up, perhaps while a listener of it runs: its stream reports nothing more. */
  responseAborted(): void {
    nextStage(failed, this)
  }

  /** The client has broken the rules of this stream. */
  #breakOff(): void {
    this.stream.violate()
    this.response.destroyed = true
    nextStage(failed, this)
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

  /** Since when the client neither sends what is read nor reads what is sent, as of this look; Infinity: it is not waited for. */
  stalledSince(now: number): number {
    const { request, stream } = this
    return this.#progress.stalledSince(stream.isWaiting || (!request.complete && !request.paused), now)
  }
}

function failed(stream: Http2RequestStream): void {
  stream.failed()
}

/** The response (RFC 9113, section 8.1). The head leaves in one write with the first body bytes. */
class Http2Response extends ClientResponse {
  readonly #method: string
  readonly #stream: Http2Stream
  readonly #owner: Http2RequestStream
  /** The pseudo-header fields: name, value, … until they are sent. */
  #head: readonly string[] | null = null
  #lines = ''

  constructor(method: string, stream: Http2Stream, owner: Http2RequestStream) {
    super(true)
    this.#method = method
    this.#stream = stream
    this.#owner = owner
  }

  get writableLength(): number {
    return this.#stream.writableLength
  }

  get congested(): boolean {
    return this.#stream.congested
  }

  /** HTTP/2 has no reason phrase, and no fields of a connection. */
  writeHead(
    status: number,
    fields: ResponseFields,
    _phrase: string | null = null,
    extra: FieldLines = FieldLines.none,
  ): void {
    if (this.headersSent) throw new Error('the head of this response has been written')
    if (!Number.isInteger(status) || status < 200 || status > 999) throw new Error(`invalid status ${status}`)
    this.#lines = linesOf(fields, extra)
    if (!fields.hasDate) this.#lines += dateLine()
    this.#head = [':status', String(status)]
    this.framing = bodyFraming(this.#method, status, fields.length)
    this.remaining = this.framing === 'length' ? Number(fields.length) : 0
    this.statusCode = status
    this.headersSent = true
  }

  writeInformation(status: number, fields: ResponseFields): void {
    if (this.headersSent || this.destroyed) return
    this.#stream.headers([':status', String(status)], false, linesOf(fields, FieldLines.none))
    if (this.congested) this.#owner.responseBlocked()
  }

  flushHeaders(): void {
    this.#sendHead(false)
  }

  #sendHead(endStream: boolean): void {
    const head = this.#head
    if (head === null || this.destroyed) return
    this.#head = null
    this.#stream.headers(head, endStream, this.#lines)
    this.#lines = ''
  }

  write(chunk: Buffer | string): boolean {
    if (this.destroyed || this.ended) return true
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (bytes.length === 0 || !this.countBody(bytes.length)) return true
    this.#sendHead(false)
    if (this.#stream.write(bytes)) return true
    this.#owner.responseBlocked()
    return false
  }

  end(body: Buffer | string = '', trailers: readonly string[] = []): void {
    if (this.ended) return
    const bytes = typeof body === 'string' ? Buffer.from(body, 'latin1') : body
    const last = bytes.length > 0 && this.countBody(bytes.length) ? bytes : null
    this.ended = true
    if (this.destroyed) return
    // A truncated body must not look complete.
    if (this.remaining > 0) return this.destroy()
    const isOnlyHead = last === null && trailers.length === 0 && this.#head !== null
    this.#sendHead(isOnlyHead)
    if (!isOnlyHead) this.#stream.end(last, trailers.length === 0 ? '' : FieldLines.of(trailers).text)
    if (this.#stream.writableLength > 0 || this.congested) this.#owner.responseBlocked()
  }

  destroy(): void {
    if (this.destroyed) return
    this.destroyed = true
    this.#stream.reset(INTERNAL_ERROR)
    this.#owner.responseAborted()
  }

  abort(): void {
    this.destroy()
  }
}

/** Throws where a byte of them could not be written. */
function linesOf(fields: ResponseFields, extra: FieldLines): string {
  if (!fields.writable || !extra.writable) throw new Error('the head contains bytes that cannot be written')
  return fields.text + extra.text
}

/** Detects streams whose client neither sends what is read nor reads what is sent. */
export class StreamProgress {
  readonly #stream: Http2Stream
  /** Bytes that were received and sent up to the last look. */
  #bytes = 0
  #stalledSince = Infinity

  constructor(stream: Http2Stream) {
    this.#stream = stream
  }

  /**
   * Called about once a second.
   *
   * @param waits the stream waits for its client @param now monotonic ms
   * @returns since when there is no progress, as of this look; Infinity: the client is not waited for
   */
  stalledSince(waits: boolean, now: number): number {
    const bytes = this.#stream.sentBytes + this.#stream.receivedBytes
    if (!waits) this.#stalledSince = Infinity
    else if (this.#stalledSince === Infinity || bytes !== this.#bytes) this.#stalledSince = now
    this.#bytes = bytes
    return this.#stalledSince
  }
}
