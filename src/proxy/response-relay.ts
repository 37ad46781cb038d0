/**
 * The upstream's answer on its way to the client: head, body and trailers, at the pace the client takes them.
 */

import type { Exchange } from '../http/server/exchange.ts'
import type { ResponseListener } from '../http/server/client-response.ts'
import type { ResponseFields } from '../http/wire/response-fields.ts'
import { nextStage } from '../lib/batched-stages.ts'
import { passed } from './buffer-garbage.ts'
import type { ResponseHead } from '../http/client/upstream-request.ts'
import { interimHeaders, reasonPhrase, responseHeaders, responseTrailers } from './response-headers.ts'

/** Bytes that may lie unsent at the client before an interim answer is left out. */
const INTERIM_BACKLOG = 64 * 1024

/** Who hears the upstream. */
export interface ResponseRelayOwner {
  /** The client can take more. */
  resume(): void
  /** What was found wrong with it only now, when it was to be written. Nothing of it is out. */
  unwritable(error: unknown): void
}

export class ResponseRelay implements ResponseListener {
  readonly #exchange: Exchange
  readonly #stall: number
  readonly #http11: boolean
  readonly #owner: ResponseRelayOwner
  #status = 0
  #phrase = ''
  /** The head is out: what follows is this answer's. */
  #headWritten = false
  /** null: none yet, or they are out. */
  #headers: ResponseFields | null = null
  #listening = false
  #backpressured = false
  /** A body that came in one piece: written with the end. */
  #bufferedBody = ''
  /** The end came before the head was out: they are written in one. */
  #trailers: readonly string[] | null = null
  #timer: NodeJS.Timeout | null = null

  /** @param stall milliseconds that the client may take nothing before it is cut off */
  constructor(exchange: Exchange, stall: number, owner: ResponseRelayOwner) {
    this.#exchange = exchange
    this.#stall = stall
    this.#http11 = exchange.request.minor === 1
    this.#owner = owner
  }

  /**
   * 1xx (RFC 9110, section 15.2). Left out for HTTP/1.0, where the client doesn't read them, and for one that is behind.
   * Throws on bad fields.
   */
  interim(head: ResponseHead): void {
    const { response } = this.#exchange
    if (!this.#http11 || response.writableLength > INTERIM_BACKLOG) return
    response.writeInformation(head.status, interimHeaders(head))
  }

  /** Throws when the client can't be given such an answer. Nothing of it is sent yet. */
  begin(head: ResponseHead): void {
    const chunks = this.#http11 && this.#exchange.request.method !== 'HEAD'
    const headers = responseHeaders(head, chunks)
    if (typeof headers === 'string') throw new Error(headers)
    this.#status = head.status
    this.#phrase = head.phrase
    this.#headers = headers
    // With the first bytes of the body if they are here already, else without them.
    nextStage(flush, this)
  }

  /** What is known of the answer goes out: what is found wrong with it later can only be cut. */
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

  /** Writes the head, once. @returns false: the request has been answered otherwise, and nothing may follow that */
  #writeHead(): boolean {
    const headers = this.#headers
    const { response } = this.#exchange
    if (headers === null || response.headersSent) return this.#headWritten
    this.#headers = null
    // It was not told to send its body, and may do so or not: nobody can say where its next request begins.
    if (this.#exchange.expectsContinue) response.shouldKeepAlive = false
    response.writeHead(this.#status, headers, reasonPhrase(this.#phrase), this.#exchange.requestIdLine)
    this.#headWritten = true
    return true
  }

  /**
   * @param chunk text: latin1, and the whole body
   * @returns false: the client is behind, and `resume` will be called
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
    const trailers = responseTrailers(rawTrailers)
    if (this.#headers === null) this.#finish(trailers)
    else this.#trailers = trailers
  }

  #finish(trailers: readonly string[]): void {
    const { response } = this.#exchange
    if (!this.#writeHead()) return
    this.#exchange.bytesOut += this.#bufferedBody.length
    // In one piece with the head.
    response.end(this.#bufferedBody, trailers)
    if (response.writableLength > 0) this.#startStallTimer()
  }

  /**
   * No more of it. One that has begun is cut: to HTTP/1.0 the end of the connection may be the end of the body, and a
   * plain one would make the part look whole. So the connection is reset.
   */
  abort(): void {
    const { response } = this.#exchange
    this.#headers = null
    if (!response.headersSent) return
    response.flushHeaders()
    // Node forgets a connection that is reset while it ends.
    if (!this.#http11 && !response.socket.writableEnded) response.socket.resetAndDestroy()
  }

  /** The connection, or this answer on it, is done with. */
  close(): void {
    this.#headers = null
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #startStallTimer(): void {
    this.#backpressured = true
    this.#timer ??= setTimeout(closeStalled, this.#stall, this.#exchange)
    if (this.#listening) return
    this.#listening = true
    this.#exchange.response.listen(this)
  }

  drained(): void {
    if (!this.#backpressured) return
    this.#backpressured = false
    this.close()
    this.#owner.resume()
  }
}

function flush(answer: ResponseRelay): void {
  answer.flush()
}

function closeStalled({ response }: Exchange): void {
  response.destroy()
}
