/**
 * The upstream's answer on its way to the client: head, body and trailers, at the pace the client takes them.
 * Used by `forward.ts`, which hears the upstream.
 */

import type { Exchange } from '../exchange.ts'
import {
  type Framing,
  interimHeaders,
  reasonPhrase,
  responseHeaders,
  responseTrailers,
} from './response-headers.ts'

/** Bytes that may lie unsent at the client before an interim answer is left out. */
const INTERIM_BACKLOG = 64 * 1024

export class Answer {
  readonly #exchange: Exchange
  readonly #stall: number
  readonly #http11: boolean
  /** Called when the client can take more. */
  readonly #resume: () => void
  #listening = false
  #held = false
  #timer: NodeJS.Timeout | null = null

  /** @param stall milliseconds that the client may take nothing before it is cut off */
  constructor(exchange: Exchange, stall: number, resume: () => void) {
    this.#exchange = exchange
    this.#stall = stall
    this.#http11 = exchange.request.httpVersionMinor >= 1
    this.#resume = resume
  }

  /** 1xx (RFC 9110, section 15.2). Left out for HTTP/1.0, and where the client doesn't read them. Throws on bad fields. */
  interim(status: number, raw: readonly Buffer[]): void {
    const { response } = this.#exchange
    if (!this.#http11 || (response.socket?.writableLength ?? 0) > INTERIM_BACKLOG) return
    response.writeInformation(status, interimHeaders(raw))
  }

  /** Throws, with nothing sent, when the client can't be given such an answer. */
  begin(status: number, raw: readonly Buffer[], phrase: string | undefined): void {
    const { request, response, id } = this.#exchange
    const framing: Framing = { status, head: request.method === 'HEAD', http11: this.#http11 }
    const headers = responseHeaders(raw, framing, id)
    if (typeof headers === 'string') throw new Error(headers)
    const reason = reasonPhrase(phrase)
    try {
      if (reason === undefined) response.writeHead(status, headers)
      else response.writeHead(status, reason, headers)
    } catch (error) {
      // Node keeps the phrase; a refusal in place of this answer has its own.
      response.statusMessage = ''
      throw error
    }
    // With the first bytes of the body if they are here already, else without them.
    process.nextTick(flush, this.#exchange)
  }

  /** false: the client is behind, and `resume` will be called. */
  write(chunk: Buffer): boolean {
    const { response } = this.#exchange
    this.#exchange.bytesOut += chunk.length
    if (response.write(chunk)) return true
    this.#hold()
    return false
  }

  end(rawTrailers: readonly Buffer[]): void {
    const { response } = this.#exchange
    const trailers = responseTrailers(rawTrailers)
    if (trailers !== null) response.addTrailers(trailers)
    response.end()
    if (response.writableLength > 0) this.#hold()
  }

  /**
   * Before an answer that has begun is cut: to HTTP/1.0 the end of the connection may be the end of the body, and a
   * plain one would make the part look whole. So the connection is reset.
   */
  spoil(): void {
    if (!this.#http11) this.#exchange.response.socket?.resetAndDestroy()
  }

  /** The connection, or this answer on it, is done with. */
  close(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  #hold(): void {
    this.#held = true
    this.#timer ??= setTimeout(cutOff, this.#stall, this.#exchange)
    if (this.#listening) return
    this.#listening = true
    this.#exchange.response.on('drain', () => this.#drained())
  }

  #drained(): void {
    if (!this.#held) return
    this.#held = false
    this.close()
    this.#resume()
  }
}

function flush({ response, bytesOut }: Exchange): void {
  if (bytesOut === 0 && !response.destroyed && !response.writableEnded) response.flushHeaders()
}

function cutOff({ response }: Exchange): void {
  response.destroy()
}
