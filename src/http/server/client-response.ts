/**
 * A response with framing of the gateway's own (RFC 9112, sections 4, 6 and 7). The head leaves in one write with the
 * first body bytes. A fault in the head is thrown before any byte is written.
 */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientRequest } from './client-request.ts'
import { FieldLines } from '../wire/field-lines.ts'
import { VALUE } from '../wire/fields.ts'
import { ResponseFields } from '../wire/response-fields.ts'
import { nextStage } from '../../lib/batched-stages.ts'

/** Receives the progress of a response. */
export interface ResponseListener {
  /** The client accepts more bytes. */
  drained?(): void
  /** The operating system has the whole response (`writableFinished`), or the connection was closed before that. */
  closed?(): void
}

/** The connection of a response. */
export interface ResponseOwner {
  readonly socket: Socket
  /** The idle timeout of the connection in whole seconds, as announced to clients. */
  readonly keepAliveSeconds: number
  /** The operating system has the whole response. */
  flushed(): void
  /** The client reads more slowly than the response is written: bytes wait in memory. */
  backpressure(): void
}

/** `none`: the response has no body, whatever its Content-Length says. */
type Framing = 'none' | 'length' | 'chunked' | 'until-close'

const CLOSE = /\bclose\b/i

const PHRASE = new RegExp(`^${VALUE}$`)

export class ClientResponse {
  statusCode = 0
  /** The head is set, sent or not. */
  headersSent = false
  /** The operating system has the whole response. */
  writableFinished = false
  /** The response has ended, or its connection is closed or about to be. */
  destroyed = false
  /** The connection persists after this response. Changes take effect until the head is set. */
  shouldKeepAlive: boolean
  /** The gateway refused the request: the next request on this connection is deferred. */
  refused = false
  readonly #request: ClientRequest
  readonly #owner: ResponseOwner
  readonly #listeners: ResponseListener[] = []
  /** The serialized head until it is written. */
  #head = ''
  #framing: Framing = 'none'
  /** Bytes of the announced length that are not written yet. */
  #remaining = 0
  #ended = false

  constructor(request: ClientRequest, owner: ResponseOwner) {
    this.#request = request
    this.#owner = owner
    this.shouldKeepAlive = request.keepAlive
  }

  listen(watch: ResponseListener): void {
    this.#listeners.push(watch)
  }

  get socket(): Socket {
    return this.#owner.socket
  }

  /** Bytes of this response that the operating system has not accepted yet. */
  get writableLength(): number {
    return this.#owner.socket.writableLength
  }

  /**
   * Sets the head. Throws, without an effect, if the head would be ambiguous or malformed.
   *
   * @param fields as latin1; Content-Length, Connection and Date among them take effect
   * @param phrase null for the standard one
   * @param extra further lines without framing fields
   */
  writeHead(
    status: number,
    fields: ResponseFields,
    phrase: string | null = null,
    extra: FieldLines = FieldLines.none,
  ): void {
    if (this.headersSent) throw new Error('the head of this response has been written')
    if (!fields.writable || !extra.writable)
      throw new Error('the head contains bytes that can not be written')
    let text = statusLine(status, phrase) + fields.text + extra.text
    if (!fields.hasDate) text += dateLine()
    const { length, connection } = fields
    const framing = this.#framingOf(status, length)
    const keepAlive =
      this.shouldKeepAlive && framing !== 'until-close' && !(connection !== null && CLOSE.test(connection))
    if (framing === 'chunked') text += 'Transfer-Encoding: chunked\r\n'
    if (connection === null)
      text += keepAlive ? keepAliveLines(this.#owner.keepAliveSeconds) : 'Connection: close\r\n'
    this.#head = `${text}\r\n`
    this.#framing = framing
    this.#remaining = framing === 'length' ? Number(length) : 0
    this.shouldKeepAlive = keepAlive
    this.statusCode = status
    this.headersSent = true
  }

  #framingOf(status: number, length: string | null): Framing {
    const { method, minor } = this.#request
    if (method === 'HEAD' || status < 200 || status === 204 || status === 304) return 'none'
    if (length !== null) return 'length'
    return minor === 1 ? 'chunked' : 'until-close'
  }

  /** Writes an interim (1xx) response before the head (RFC 9110, section 15.2). Throws as `writeHead` does. */
  writeInformation(status: number, fields: ResponseFields): void {
    if (this.headersSent || this.destroyed) return
    if (!fields.writable) throw new Error('the interim response contains bytes that can not be written')
    this.#owner.socket.write(`${statusLine(status, null)}${fields.text}\r\n`, 'latin1')
  }

  writeContinue(): void {
    this.writeInformation(100, NO_FIELDS)
  }

  /** Sends the head now, if it is not sent yet. */
  flushHeaders(): void {
    if (this.#head === '' || this.destroyed) return
    const head = this.#head
    this.#head = ''
    this.#owner.socket.write(head, 'latin1')
  }

  /** @returns false on backpressure; `drained` follows */
  write(chunk: Buffer | string): boolean {
    if (this.destroyed || this.#ended) return true
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (bytes.length === 0 || !this.#countBody(bytes.length)) return true
    const { socket } = this.#owner
    socket.cork()
    this.flushHeaders()
    if (this.#framing === 'chunked') socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    socket.write(bytes)
    if (this.#framing === 'chunked') socket.write('\r\n', 'latin1')
    socket.uncork()
    if (!socket.writableNeedDrain) return true
    this.#owner.backpressure()
    return false
  }

  /**
   * @param body the rest of the body; a string is latin1
   * @param trailers name, value, …; sent with chunked framing only
   */
  end(body: Buffer | string = '', trailers: readonly string[] = []): void {
    if (this.#ended) return
    if (body.length > 0 && typeof body !== 'string') this.write(body)
    const text = typeof body === 'string' && body !== '' && this.#countBody(body.length) ? body : ''
    this.#ended = true
    if (this.destroyed) return
    // A truncated body must not look complete.
    if (this.#remaining > 0) return this.destroy()
    const head = this.#head
    this.#head = ''
    this.#finish(head + (this.#framing === 'chunked' ? lastChunks(text, trailers) : text))
  }

  #finish(last: string): void {
    const { socket } = this.#owner
    if (last !== '') socket.write(last, 'latin1')
    if (socket.writableLength === 0) nextStage(flushed, this.#owner)
    else {
      socket.write('', 'latin1', () => flushed(this.#owner))
      this.#owner.backpressure()
    }
  }

  /**
   * Counts body bytes. Bytes beyond the announced length would be taken for the next response: they close the
   * connection.
   *
   * @returns whether to write them
   */
  #countBody(bytes: number): boolean {
    if (this.#framing === 'none') return false
    if (this.#framing !== 'length') return true
    this.#remaining -= bytes
    if (this.#remaining >= 0) return true
    this.destroy()
    return false
  }

  /** Closes the connection. */
  destroy(): void {
    this.destroyed = true
    this.#owner.socket.destroy()
  }

  /** Called by the connection. */
  drained(): void {
    for (const watch of this.#listeners) watch.drained?.()
  }

  /**
   * Called by the connection.
   *
   * @param complete the operating system has the whole response; otherwise the connection is closed
   */
  finish(complete: boolean): void {
    this.writableFinished = complete
    this.destroyed = true
    for (const watch of this.#listeners) watch.closed?.()
  }

  /** `end` was called. */
  get ended(): boolean {
    return this.#ended
  }
}

function flushed(owner: ResponseOwner): void {
  owner.flushed()
}

function lastChunks(text: string, trailers: readonly string[]): string {
  let lines = ''
  for (let i = 0; i < trailers.length; i += 2) lines += `${trailers[i]}: ${trailers[i + 1]}\r\n`
  const chunk = text === '' ? '' : `${text.length.toString(16)}\r\n${text}\r\n`
  return `${chunk}0\r\n${lines}\r\n`
}

const NO_FIELDS = ResponseFields.of([])

/** RFC 9112, section 4. Throws if status or phrase is invalid. @param phrase null for the standard one */
function statusLine(status: number, phrase: string | null): string {
  const standard = STATUS_CODES[status] ?? ''
  if (!Number.isInteger(status) || status < 100 || status > 999) throw new Error(`invalid status ${status}`)
  if (phrase !== null && phrase !== standard && !PHRASE.test(phrase))
    throw new Error('the reason phrase is malformed')
  return `HTTP/1.1 ${status} ${phrase ?? standard}\r\n`
}

let keepAliveFor = NaN
let keepAliveText = ''

/** Cached, as the value changes at a reload only. @param seconds whole seconds */
function keepAliveLines(seconds: number): string {
  if (seconds !== keepAliveFor) {
    keepAliveFor = seconds
    keepAliveText = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
  }
  return keepAliveText
}

let dateSecond = 0
let dateText = ''

/** RFC 9110, section 6.6.1. Formatted once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return dateText
}
