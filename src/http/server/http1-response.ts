/**
 * A response over HTTP/1.1 with framing of the gateway's own (RFC 9112, sections 4, 6 and 7). The head leaves
 * in one write with the first body bytes.
 */

import type { Socket } from 'node:net'
import { inBatch } from '../../lib/batched-steps.ts'
import { STATUS_CODES } from '../../lib/node-http.ts'
import { FieldLines } from '../wire/field-lines.ts'
import { VALUE } from '../wire/fields.ts'
import { writeLast } from '../wire/last-write.ts'
import type { ResponseFields } from '../wire/response-fields.ts'
import { WriteQueue } from '../wire/write-queue.ts'
import type { ClientRequest } from './client-request.ts'
import { type BodyFraming, bodyFraming, ClientResponse, dateLine } from './client-response.ts'

/** The connection of a response. */
export interface ResponseOwner {
  readonly socket: Socket
  /** Those that wait in the socket. */
  readonly writes: WriteQueue
  /** The idle timeout of the connection in whole seconds, as announced to clients. */
  readonly keepAliveSeconds: number
  /** The operating system has the whole response. */
  flushed(): void
  /** The client reads more slowly than the response is written: bytes wait in memory. */
  backpressure(): void
}

/** Unsent bytes beyond which a connection is congested, as over HTTP/2. */
const MAX_BACKLOG = 64 * 1024

const CLOSE = /\bclose\b/i
const PHRASE = new RegExp(`^${VALUE}$`)

export class Http1Response extends ClientResponse {
  readonly #request: ClientRequest
  readonly #owner: ResponseOwner
  /** The serialized head until it is written. */
  #head = ''

  constructor(request: ClientRequest, owner: ResponseOwner) {
    super(request.keepAlive)
    this.#request = request
    this.#owner = owner
  }

  get socket(): Socket {
    return this.#owner.socket
  }

  get writableLength(): number {
    return this.#owner.writes.bytes
  }

  get congested(): boolean {
    return this.writableLength > MAX_BACKLOG
  }

  writeHead(
    status: number,
    fields: ResponseFields,
    phrase: string | null = null,
    extra: FieldLines = FieldLines.none,
  ): void {
    if (this.headersSent) throw new Error('the head of this response has been written')
    if (!fields.writable || !extra.writable) throw new Error('the head contains bytes that cannot be written')
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
    this.framing = framing
    this.remaining = framing === 'length' ? Number(length) : 0
    this.shouldKeepAlive = keepAlive
    this.statusCode = status
    this.headersSent = true
  }

  #framingOf(status: number, length: string | null): BodyFraming {
    const { method, minor } = this.#request
    const framing = bodyFraming(method, status, length)
    if (framing !== 'open') return framing
    return minor === 1 ? 'chunked' : 'until-close'
  }

  writeInformation(status: number, fields: ResponseFields): void {
    if (this.headersSent || this.destroyed) return
    if (!fields.writable) throw new Error('the interim response contains bytes that cannot be written')
    this.#owner.writes.count()
    this.#owner.socket.write(`${statusLine(status, null)}${fields.text}\r\n`, 'latin1')
  }

  flushHeaders(): void {
    if (this.#head === '' || this.destroyed) return
    const head = this.#head
    this.#head = ''
    this.#owner.socket.write(head, 'latin1')
  }

  write(chunk: Buffer | string): boolean {
    if (this.destroyed || this.ended) return true
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk
    if (bytes.length === 0 || !this.countBody(bytes.length)) return true
    const { socket, writes } = this.#owner
    writes.count()
    socket.cork()
    this.flushHeaders()
    if (this.framing === 'chunked') socket.write(`${bytes.length.toString(16)}\r\n`, 'latin1')
    socket.write(bytes)
    if (this.framing === 'chunked') socket.write('\r\n', 'latin1')
    socket.uncork()
    if (writes.hasRoom()) return true
    this.#owner.backpressure()
    return false
  }

  /** Trailers are sent with chunked framing only. */
  end(body: Buffer | string = '', trailers: readonly string[] = []): void {
    if (this.ended) return
    if (body.length > 0 && typeof body !== 'string') this.write(body)
    const text = typeof body === 'string' && body !== '' && this.countBody(body.length) ? body : ''
    this.ended = true
    if (this.destroyed) return
    // A truncated body must not look complete.
    if (this.remaining > 0) return this.destroy()
    const head = this.#head
    this.#head = ''
    this.#finish(head + (this.framing === 'chunked' ? lastChunks(text, trailers) : text))
  }

  #finish(last: string): void {
    const owner = this.#owner
    if (writeLast(owner.socket, last, () => flushed(owner))) inBatch(flushed, owner)
    else owner.backpressure()
  }

  destroy(): void {
    this.destroyed = true
    this.#owner.socket.destroy()
  }

  /** Resets the connection: in HTTP/1.0, a plain close may end the body. */
  abort(): void {
    const { socket } = this.#owner
    // Node.js ignores a reset of a socket that is already ending.
    if (this.#request.minor === 1 || socket.writableEnded) return this.destroy()
    this.destroyed = true
    socket.resetAndDestroy()
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

/**
 * RFC 9112, section 4. Throws if status or phrase is invalid.
 *
 * @param phrase null for the standard one
 */
function statusLine(status: number, phrase: string | null): string {
  const standard = STATUS_CODES[status] ?? ''
  if (!Number.isInteger(status) || status < 100 || status > 999) throw new Error(`invalid status ${status}`)
  if (phrase !== null && phrase !== standard && !PHRASE.test(phrase))
    throw new Error('the reason phrase is malformed')
  return `HTTP/1.1 ${status} ${phrase ?? standard}\r\n`
}

let keepAliveFor = NaN
let keepAliveText = ''

/**
 * Cached, as the value changes at a reload only.
 *
 * @param seconds whole seconds
 */
function keepAliveLines(seconds: number): string {
  if (seconds !== keepAliveFor) {
    keepAliveFor = seconds
    keepAliveText = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
  }
  return keepAliveText
}

/**
 * The single response to a handshake, on a connection that leaves HTTP. Its end closes the connection; after
 * a 101, the end of the connection ends the response.
 */
export function handshakeResponse(request: ClientRequest): ClientResponse {
  const { socket } = request
  const response = new Http1Response(request, {
    socket,
    writes: new WriteQueue(socket, () => response.drained()),
    keepAliveSeconds: 0,
    backpressure: () => {},
    flushed: () => {
      if (socket.destroyed) return
      response.finish(true)
      socket.destroySoon()
    },
  })
  response.shouldKeepAlive = false
  socket.on('drain', () => response.drained())
  socket.on('close', () => {
    if (!response.writableFinished) response.finish(false)
  })
  // A client that ends its side before a complete response does not want it. After a 101, frames decide.
  socket.on('end', () => {
    if (response.statusCode !== 101 && !response.ended) socket.destroy()
  })
  // The client ended its side together with the handshake; that event came before this listener.
  if (socket.readableEnded) response.destroy()
  return response
}
