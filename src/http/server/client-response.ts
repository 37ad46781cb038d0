/**
 * The response to a client, whatever version of HTTP carries it. A fault in the head is thrown before any
 * byte is written.
 */

import type { FieldLines } from '../wire/field-lines.ts'
import { ResponseFields } from '../wire/response-fields.ts'

/** Receives the progress of a response. */
export interface ResponseListener {
  /** The client accepts more bytes. */
  drained?(): void
  /** The operating system has the whole response (`writableFinished`), or it was aborted before that. */
  closed?(): void
}

const NO_FIELDS = ResponseFields.of([])

export abstract class ClientResponse {
  statusCode = 0
  /** The head is set, sent or not. */
  headersSent = false
  /** The operating system has the whole response. */
  writableFinished = false
  /** The response has ended, or it is aborted or about to be. */
  destroyed = false
  /** The connection persists after this response. Changes take effect until the head is set. */
  shouldKeepAlive: boolean
  /** The gateway refused the request: the next requests on the connection are deferred. */
  refused = false
  /** `end` was called. */
  ended = false
  protected framing: BodyFraming = 'none'
  /** Bytes of the announced length that are not written yet. */
  protected remaining = 0
  readonly #listeners: ResponseListener[] = []

  constructor(shouldKeepAlive: boolean) {
    this.shouldKeepAlive = shouldKeepAlive
  }

  listen(watch: ResponseListener): void {
    this.#listeners.push(watch)
  }

  /**
   * Bytes of this response that the operating system has not accepted yet; over HTTP/1.1 with the memory that
   * their writes take.
   */
  abstract get writableLength(): number

  /**
   * The connection holds so many unsent bytes, of this response or of others, that only what has to be
   * written may be added.
   */
  abstract get congested(): boolean

  /**
   * Sets the head. Throws, without an effect, if the head would be ambiguous or malformed.
   *
   * @param fields as latin1; Content-Length, Connection and Date among them take effect
   * @param phrase null for the standard one
   * @param extra further lines without framing fields
   */
  abstract writeHead(status: number, fields: ResponseFields, phrase?: string | null, extra?: FieldLines): void

  /** Writes an interim (1xx) response before the head (RFC 9110, section 15.2). Throws like `writeHead`. */
  abstract writeInformation(status: number, fields: ResponseFields): void

  writeContinue(): void {
    this.writeInformation(100, NO_FIELDS)
  }

  /** Sends the head now, if it is not sent yet. */
  abstract flushHeaders(): void

  /** @returns false on backpressure; `drained` follows */
  abstract write(chunk: Buffer | string): boolean

  /**
   * @param body the rest of the body; a string is latin1
   * @param trailers name, value, …
   */
  abstract end(body?: Buffer | string, trailers?: readonly string[]): void

  /** Gives the response up. In HTTP/1.1 the connection is closed. */
  abstract destroy(): void

  /** Gives up a response that has begun, so that it does not look complete. */
  abstract abort(): void

  /**
   * Counts body bytes. Bytes beyond the announced length would be taken for the next response: the response
   * is given up.
   *
   * @returns whether to write them
   */
  protected countBody(bytes: number): boolean {
    if (this.framing === 'none') return false
    if (this.framing !== 'length') return true
    this.remaining -= bytes
    if (this.remaining >= 0) return true
    this.destroy()
    return false
  }

  /** Called by the connection. */
  drained(): void {
    for (const watch of this.#listeners) watch.drained?.()
  }

  /**
   * Called by the connection.
   *
   * @param complete the operating system has the whole response; otherwise it is aborted
   */
  finish(complete: boolean): void {
    this.writableFinished = complete
    this.destroyed = true
    for (const watch of this.#listeners) watch.closed?.()
  }
}

/**
 * How the end of a body is known. `none`: the response has no body, whatever its Content-Length says. `open`:
 * as the version of HTTP has it; in HTTP/1 `chunked` or `until-close`.
 */
export type BodyFraming = 'none' | 'length' | 'open' | 'chunked' | 'until-close'

/**
 * RFC 9110, section 6.4.1.
 *
 * @param length the value of Content-Length; null without one
 */
export function bodyFraming(method: string, status: number, length: string | null): BodyFraming {
  if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 'none'
  return length === null ? 'open' : 'length'
}

let dateSecond = 0
let dateText = ''

/** The line of Date (RFC 9110, section 6.6.1). Built once a second. */
export function dateLine(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return dateText
}
