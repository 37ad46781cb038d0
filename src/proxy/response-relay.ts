/** Relays the upstream response to the client: head, body and trailers, at the pace of the client. */

import type { Exchange } from '../http/server/exchange.ts'
import { corsLines, isLimited, linesForUpstreamResponse } from '../http/server/gateway-lines.ts'
import { grpcStatus, relayedCall } from '../http/server/grpc-exchange.ts'
import type { ResponseListener } from '../http/server/client-response.ts'
import type { ResponseFields } from '../http/wire/response-fields.ts'
import { fieldName } from '../http/wire/field-name.ts'
import { inBatch } from '../lib/batched-steps.ts'
import { passed } from './buffer-garbage.ts'
import type { ResponseHead } from '../http/client/upstream-request.ts'
import {
  interimHeaders,
  namedFields,
  reasonPhrase,
  responseHeaders,
  responseTrailers,
} from './response-headers.ts'

const GRPC_STATUS = fieldName('grpc-status')
const CONTENT_TYPE = fieldName('content-type')
export const EVENT_STREAM = /^text\/event-stream(?![^ \t;])/i

/** The sender of the upstream response. */
export interface ResponseRelayOwner {
  /** The client accepts more bytes. */
  resume(): void
  /** The head turned out to be unwritable. Nothing of the response is sent. */
  unwritable(error: unknown): void
}

export class ResponseRelay implements ResponseListener {
  readonly #exchange: Exchange
  readonly #stall: number
  readonly #http11: boolean
  readonly #owner: ResponseRelayOwner
  #status = 0
  #phrase = ''
  /** Whether the head of this response is written, and not the head of another one. */
  #headWritten = false
  /** The header fields; null before the head is received and after it is written. */
  #headers: ResponseFields | null = null
  /** The fields that Connection of the head names. */
  #named: ReadonlySet<string> | null = null
  #listening = false
  #backpressured = false
  /** A body that came as one string: written with the end. */
  #bufferedBody = ''
  /** It has no end of its own: its reader asks again (HTML, section 9.2.3) without an incomplete event. */
  #isEventStream = false
  /** The response ended before its head was written: both leave in one write. */
  #trailers: readonly string[] | null = null
  #timer: NodeJS.Timeout | null = null
  /** Bytes that the client had taken when the timer was set. */
  #taken = 0

  /** @param stall milliseconds in which the client must read some of the response */
  constructor(exchange: Exchange, stall: number, owner: ResponseRelayOwner) {
    this.#exchange = exchange
    this.#stall = stall
    this.#http11 = exchange.request.minor === 1
    this.#owner = owner
  }

  get #cors(): string | null {
    return corsLines.get(this.#exchange) ?? null
  }

  /**
   * Relays a 1xx (RFC 9110, section 15.2). Dropped for HTTP/1.0, whose clients do not read it, and for a
   * client that is slow to read. Throws on invalid fields.
   */
  interim(head: ResponseHead): void {
    const { response } = this.#exchange
    if (!this.#http11 || response.congested) return
    response.writeInformation(head.status, interimHeaders(head, this.#cors, isLimited(this.#exchange)))
  }

  /** Throws if the client cannot be given this response. Nothing of it is sent yet. */
  begin(head: ResponseHead): void {
    const chunks = this.#http11 && this.#exchange.request.method !== 'HEAD'
    this.#named = namedFields(head.fields)
    const headers = responseHeaders(head, chunks, this.#cors, isLimited(this.#exchange), this.#named)
    if (typeof headers === 'string') throw new Error(headers)
    this.#noteGrpcStatus(head.fields.values(GRPC_STATUS)[0])
    this.#isEventStream = EVENT_STREAM.test(head.fields.values(CONTENT_TYPE)[0] ?? '')
    this.#status = head.status
    this.#phrase = head.phrase
    this.#headers = headers
    // The head leaves with the first body bytes, if those are already here.
    inBatch(flush, this)
  }

  /** Writes what is known of the response. Faults from then on can only close the connection. */
  flush(): void {
    const { response } = this.#exchange
    if (this.#headers === null || response.destroyed) return
    try {
      if (this.#trailers !== null) this.#finish(this.#trailers)
      else if (this.#writeHead()) response.flushHeaders()
    } catch (error) {
      this.#owner.unwritable(error)
    }
  }

  /**
   * Writes the head, once.
   *
   * @returns false if another response was sent, so that nothing of this one may follow
   */
  #writeHead(): boolean {
    const headers = this.#headers
    const { response } = this.#exchange
    if (headers === null || response.headersSent) return this.#headWritten
    this.#headers = null
    // A client that waits for `100 Continue` may omit the body: the start of its next request is unknown.
    if (this.#exchange.expectsContinue) response.shouldKeepAlive = false
    response.writeHead(
      this.#status,
      headers,
      reasonPhrase(this.#phrase),
      linesForUpstreamResponse(this.#exchange),
    )
    this.#headWritten = true
    return true
  }

  /**
   * @param chunk a string is the whole body as latin1
   * @returns false on backpressure; `resume` follows
   */
  write(chunk: Buffer | string): boolean {
    const { response } = this.#exchange
    if (typeof chunk === 'string') {
      this.#bufferedBody = chunk
      return true
    }
    if (!this.#writeHead()) return true
    this.#exchange.bytesOut += chunk.length
    passed(chunk.length)
    if (response.write(chunk)) return true
    this.#startStallTimer()
    return false
  }

  /** Throws as `begin` does. */
  end(rawTrailers: readonly string[]): void {
    const trailers = responseTrailers(rawTrailers, this.#named, {
      cors: this.#cors,
      isLimited: isLimited(this.#exchange),
      grpcResponse: relayedCall.get(this.#exchange) !== undefined,
    })
    const status = trailers.indexOf('grpc-status')
    if (status % 2 === 0) this.#noteGrpcStatus(trailers[status + 1])
    if (this.#headers === null) this.#finish(trailers)
    else this.#trailers = trailers
  }

  /** Notes the status for the access log. */
  #noteGrpcStatus(value: string | undefined): void {
    if (value !== undefined && /^[0-9]{1,3}$/.test(value)) grpcStatus.set(this.#exchange, Number(value))
  }

  #finish(trailers: readonly string[]): void {
    const { response } = this.#exchange
    if (!this.#writeHead()) return
    this.#exchange.bytesOut += this.#bufferedBody.length
    // In one write with the head.
    response.end(this.#bufferedBody, trailers)
    if (response.writableLength > 0) this.#startStallTimer()
  }

  /**
   * Stops the response. If its head is written, it is aborted for HTTP/1.0: there the end of the connection
   * may be the end of the body, so a plain close would make a truncated body look complete.
   */
  abort(): void {
    const { response } = this.#exchange
    this.#headers = null
    if (!response.headersSent) return
    response.flushHeaders()
    if (!this.#http11 && !response.ended) response.abort()
  }

  /** Ends a stream of events that has begun, as a complete response. Any other must not look complete. */
  endEvents(): void {
    const { response } = this.#exchange
    if (this.#isEventStream && this.#headWritten && !response.destroyed) response.end()
  }

  /** The response has ended, or its connection is closed. */
  close(): void {
    this.#headers = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #startStallTimer(): void {
    this.#backpressured = true
    if (this.#timer === null) this.#awaitProgress()
    if (this.#listening) return
    this.#listening = true
    this.#exchange.response.listen(this)
  }

  #awaitProgress(): void {
    this.#taken = this.#exchange.bytesOut - this.#exchange.response.writableLength
    this.#timer = setTimeout(onStallTime, this.#stall, this)
  }

  /** The time is over. It starts again if the client has taken some of the response in it. */
  checkProgress(): void {
    const { bytesOut, response } = this.#exchange
    if (bytesOut - response.writableLength > this.#taken) this.#awaitProgress()
    else response.destroy()
  }

  drained(): void {
    if (!this.#backpressured) return
    this.#backpressured = false
    this.close()
    this.#owner.resume()
  }
}

function flush(relay: ResponseRelay): void {
  relay.flush()
}

function onStallTime(relay: ResponseRelay): void {
  relay.checkProgress()
}
