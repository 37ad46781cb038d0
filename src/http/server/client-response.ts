/**
 * The answer to a request, framed by us (RFC 9112, sections 4, 6 and 7). Head and first bytes go out in one write. What
 * is wrong with a head is thrown before a byte of it is written.
 */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import type { ClientRequest } from './client-request.ts'
import { FieldLines } from '../wire/field-lines.ts'
import { VALUE } from '../wire/fields.ts'
import { ResponseFields } from '../wire/response-fields.ts'
import { nextStage } from '../../lib/batched-stages.ts'

/** Who wants to know how it goes. */
export interface ResponseListener {
  /** The client takes more. */
  drained?(): void
  /** All of it was handed to the system (`writableFinished`), or the connection is gone before that. */
  closed?(): void
}

/** What it tells its connection. */
export interface ResponseOwner {
  readonly socket: Socket
  /** Whole seconds that the connection is kept for the next request. */
  readonly keepAliveSeconds: number
  /** All of it is with the system. */
  flushed(): void
  /** The client does not take it as fast as it is written: it waits in memory. */
  backpressure(): void
}

/** `none`: whatever is said of its length, it has no body. */
type Framing = 'none' | 'length' | 'chunked' | 'until-close'

const CLOSE = /\bclose\b/i

const PHRASE = new RegExp(`^${VALUE}$`)

export class ClientResponse {
  statusCode = 0
  /** A head was given, be it on its way or not. */
  headersSent = false
  /** All of it was handed to the system. */
  writableFinished = false
  /** It is over, or its connection is gone, or will be. */
  destroyed = false
  /** The connection goes on after it. Counts until the head is given. */
  shouldKeepAlive: boolean
  /** The gateway said no: who has asked waits a little longer for its next answer than others do. */
  refused = false
  readonly #request: ClientRequest
  readonly #owner: ResponseOwner
  readonly #listeners: ResponseListener[] = []
  /** Not written yet. */
  #head = ''
  #framing: Framing = 'none'
  /** Bytes of the announced length that are still due. */
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

  /** Bytes that the system has not taken yet, of this answer alone. */
  get writableLength(): number {
    return this.#owner.socket.writableLength
  }

  /**
   * Throws, having done nothing, when it can't be written so that every reader finds the same in it.
   *
   * @param fields as latin1; Content-Length, Connection and Date among them count
   * @param phrase null: the usual one
   * @param more further lines, which say nothing of framing
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

  /** 1xx (RFC 9110, section 15.2): before the head, as often as it likes. Throws as `writeHead` does. */
  writeInformation(status: number, fields: ResponseFields): void {
    if (this.headersSent || this.destroyed) return
    if (!fields.writable) throw new Error('the interim response contains bytes that can not be written')
    this.#owner.socket.write(`${statusLine(status, null)}${fields.text}\r\n`, 'latin1')
  }

  writeContinue(): void {
    this.writeInformation(100, NO_FIELDS)
  }

  /** The head goes out now, if it has not yet. */
  flushHeaders(): void {
    if (this.#head === '' || this.destroyed) return
    const head = this.#head
    this.#head = ''
    this.#owner.socket.write(head, 'latin1')
  }

  /** @returns false: the client is behind, and `drain` will be told */
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
   * @param body the rest of it; text: latin1
   * @param trailers name, value, …: for who knows chunks
   */
  end(body: Buffer | string = '', trailers: readonly string[] = []): void {
    if (this.#ended) return
    if (body.length > 0 && typeof body !== 'string') this.write(body)
    const text = typeof body === 'string' && body !== '' && this.#countBody(body.length) ? body : ''
    this.#ended = true
    if (this.destroyed) return
    // What is short of its length must not look whole.
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

  /** Whether there is a body for them. More than was announced would be taken for the next answer. */
  #countBody(bytes: number): boolean {
    if (this.#framing === 'none') return false
    if (this.#framing !== 'length') return true
    this.#remaining -= bytes
    if (this.#remaining >= 0) return true
    this.destroy()
    return false
  }

  /** Cuts the connection. */
  destroy(): void {
    this.destroyed = true
    this.#owner.socket.destroy()
  }

  /** Told by its conversation. */
  drained(): void {
    for (const watch of this.#listeners) watch.drained?.()
  }

  /** Told by its conversation. @param whole all of it is with the system; else its connection is gone */
  finish(complete: boolean): void {
    this.writableFinished = complete
    this.destroyed = true
    for (const watch of this.#listeners) watch.closed?.()
  }

  /** Everything was said, and is on its way. */
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

const NO_FIELDS = new ResponseFields([])

/** RFC 9112, section 4. Throws where it is none. @param phrase null: the usual one */
function statusLine(status: number, phrase: string | null): string {
  const standard = STATUS_CODES[status] ?? ''
  if (!Number.isInteger(status) || status < 100 || status > 999) throw new Error(`invalid status ${status}`)
  if (phrase !== null && phrase !== standard && !PHRASE.test(phrase))
    throw new Error('the reason phrase is malformed')
  return `HTTP/1.1 ${status} ${phrase ?? standard}\r\n`
}

let keepAliveFor = NaN
let keepAliveText = ''

/** @param seconds whole ones; the same for all answers, until they are changed */
function keepAliveLines(seconds: number): string {
  if (seconds !== keepAliveFor) {
    keepAliveFor = seconds
    keepAliveText = `Connection: keep-alive\r\nKeep-Alive: timeout=${seconds}\r\n`
  }
  return keepAliveText
}

let dateSecond = 0
let dateText = ''

/** RFC 9110, section 6.6.1. Written once a second. */
function dateLine(): string {
  const second = Math.floor(Date.now() / 1000)
  if (second !== dateSecond) {
    dateSecond = second
    dateText = `Date: ${new Date(second * 1000).toUTCString()}\r\n`
  }
  return dateText
}
