/** The response on a stream of HTTP/2. */

import { FieldLines } from '../wire/field-lines.ts'
import { INTERNAL_ERROR } from '../wire/http2/http2-errors.ts'
import type { Http2Stream } from '../wire/http2/stream.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import { bodyFraming, ClientResponse, dateLine } from './client-response.ts'

/** The request of a response. */
export interface Http2ResponseOwner {
  /** Bytes wait for the client. */
  responseBlocked(): void
  /** The gateway gives the response up, perhaps in a call of a listener. Its stream reports nothing more. */
  responseAborted(): void
}

/** The response (RFC 9113, section 8.1). The head leaves in one write with the first body bytes. */
export class Http2Response extends ClientResponse {
  readonly #method: string
  readonly #stream: Http2Stream
  readonly #owner: Http2ResponseOwner
  /** The pseudo-header fields: name, value, … until they are sent. */
  #head: readonly string[] | null = null
  #lines = ''

  constructor(method: string, stream: Http2Stream, owner: Http2ResponseOwner) {
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
