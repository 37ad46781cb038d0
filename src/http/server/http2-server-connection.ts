/**
 * The HTTP/2 side of a client connection (RFC 9113): its streams become requests, as HTTP/1.1 has them. What
 * the rules of HTTP/2 say of frames is the session's; what they say of requests is in
 * `wire/http2/request-list.ts`.
 */

import type { Socket } from 'node:net'
import type { DeferredQueue } from '../../lib/deferred-queue.ts'
import { ENHANCE_YOUR_CALM, Http2Error } from '../wire/http2/http2-errors.ts'
import { cutHead, isHead, requestHead, RequestListReader } from '../wire/http2/request-list.ts'
import { Http2Session } from '../wire/http2/http2-session.ts'
import type { SessionOwner } from '../wire/http2/session-owner.ts'
import type { Http2Stream, StreamReceiver } from '../wire/http2/stream.ts'
import { StreamTable } from '../wire/http2/stream-table.ts'
import { MalformedRequest } from '../wire/malformed-request.ts'
import type { ClientConnection, Http2Side } from './client-connection.ts'
import { type DirectReads, readDirectly } from './direct-reads.ts'
import type { Exchange } from './exchange.ts'
import { http2Settings } from './http2-preface.ts'
import { Http2RequestStream, type RequestStreamOwner } from './http2-request-stream.ts'
import { RefusedStream } from './refused-stream.ts'
import { ReadTurns, type TurnReader } from './read-turns.ts'
import type { ListenerSettings } from './listener-options.ts'
import { writeStreamProblem } from './problem.ts'
import { ignore } from '../../lib/ignore.ts'

/**
 * Held bytes are reported in steps of this many, rounded up from the first one on: small header sections and
 * small writes cost no report.
 */
const REPORT_STEP = 4096

export class Http2Connection implements Http2Side, SessionOwner, RequestStreamOwner, TurnReader {
  readonly socket: Socket
  readonly #client: ClientConnection
  readonly #session: Http2Session
  readonly #requests = new StreamTable<Http2RequestStream>()
  readonly #lists = new RequestListReader()
  /** Streams whose refusal is on its way. */
  readonly #refused = new StreamTable<RefusedStream>()
  readonly #direct: DirectReads
  readonly #headerBytes: number
  /** The bytes of the heads of requests in flight. Requests with equal fields share them, and each counts. */
  #headBytes = 0
  #reported = 0
  readonly #turns: ReadTurns
  #stopped = false

  constructor(client: ClientConnection, listener: ListenerSettings, deferred: DeferredQueue) {
    const { socket } = client
    const settings = http2Settings(listener, socket.remoteAddress)
    this.socket = socket
    this.#client = client
    this.#turns = new ReadTurns(this, deferred)
    this.#headerBytes = settings.headerBytes
    this.#session = new Http2Session(socket, settings, this)
    socket.on('data', this.#onData)
    this.#direct = readDirectly(socket, this.#receive)
    socket.on('end', this.#onEnd)
    socket.on('close', this.#onClose)
    socket.on('error', ignore)
  }

  get awaitsRequest(): boolean {
    return !this.#isActive && this.#session.atStart && this.#turns.unreadBytes === 0
  }

  get #isActive(): boolean {
    return this.#requests.size + this.#refused.size > 0
  }

  get exchanges(): Exchange[] {
    const exchanges: Exchange[] = []
    for (const { exchange } of this.#requests) if (exchange !== null) exchanges.push(exchange)
    return exchanges
  }

  readonly #onData = (chunk: Buffer): void => {
    if (!this.#receive(chunk)) this.socket.pause()
  }

  /** @returns false to stop reading for now */
  readonly #receive = (chunk: Buffer): boolean => {
    const goesOn = this.#turns.receive(chunk)
    this.unreadChanged()
    return goesOn
  }

  read(bytes: Buffer): Buffer | null {
    return this.socket.destroyed ? null : this.#session.receive(bytes)
  }

  pause(): void {
    this.#session.pause()
  }

  resume(): void {
    if (this.socket.isPaused()) this.socket.resume()
    this.#direct.more()
  }

  unreadChanged(): void {
    if (!this.#isActive && this.#turns.unreadBytes === 0) {
      if (this.#session.atStart) this.#client.owner.headWithdrawn(this.#client)
      else this.#client.owner.headStarted(this.#client)
    }
    this.buffered()
  }

  buffered(): void {
    const held = this.#stopped ? 0 : this.#session.heldBytes + this.#headBytes + this.#turns.unreadBytes
    const bytes = held < REPORT_STEP ? 0 : Math.ceil(held / REPORT_STEP) * REPORT_STEP
    if (bytes === this.#reported) return
    this.#reported = bytes
    this.#client.owner.memoryChanged(this.#client, bytes)
  }

  streamOpened(
    stream: Http2Stream,
    fields: readonly string[],
    complete: boolean,
    endStream: boolean,
  ): StreamReceiver | null {
    this.#turns.requestRead()
    try {
      if (!complete) throw cutHead(fields, this.#headerBytes)
      const head = requestHead(this.#lists.read(fields), endStream, this.#headerBytes)
      const request = new Http2RequestStream(head, stream, this)
      this.#requests.add(request)
      this.#headBytes += request.headBytes
      const client = this.#client
      request.exchange = client.owner.requestReceived(client, request.request, request.response)
      return request
    } catch (error) {
      if (!(error instanceof MalformedRequest)) throw error
      return this.#refuse(stream, error, isHead(fields))
    }
  }

  #refuse(stream: Http2Stream, fault: MalformedRequest, ofHead: boolean): StreamReceiver {
    const refused = new RefusedStream(stream)
    this.#refused.add(refused)
    this.#turns.refused()
    this.#client.owner.malformedStream(this.#client, fault, (refusal, id) =>
      writeStreamProblem(stream, ofHead, refusal, id),
    )
    return refused
  }

  exchangeEnded(exchange: Exchange, request: Http2RequestStream): void {
    const { refused, writableFinished } = request.response
    if (refused) this.#turns.refused()
    else if (writableFinished) this.#turns.answered()
    this.#client.owner.exchangeEnded(exchange)
    this.#release(request)
    this.buffered()
  }

  streamClosed(stream: Http2Stream): void {
    const request = this.#requests.get(stream.id)
    if (request !== undefined) {
      if (this.#release(request)) this.buffered()
    } else if (this.#refused.delete(stream.id)) this.#reportIdle()
  }

  /**
   * A request is in flight until its stream is closed and its response is with the operating system, or given
   * up.
   *
   * @returns whether that is so
   */
  #release({ stream, exchange, headBytes }: Http2RequestStream): boolean {
    if (!stream.closed || exchange !== null || !this.#requests.delete(stream.id)) return false
    this.#headBytes -= headBytes
    this.#reportIdle()
    return true
  }

  #reportIdle(): void {
    if (!this.#isActive && !this.#stopped) this.#client.owner.becameIdle(this.#client)
  }

  failed(error: Http2Error): void {
    this.stop()
    this.#client.owner.sessionFailed(this.#client, error)
  }

  drain(soon: boolean): void {
    this.#session.goAway(soon)
  }

  closeIdle(): void {
    const isUnread = this.socket.writableLength > 0
    this.#session.goAway()
    this.#session.flush()
    if (isUnread) this.stop()
    this.#client.closing(isUnread)
  }

  isLate(now: number, ms: number): boolean {
    return now - this.#session.incompleteSince > ms
  }

  refuse(message: string): void {
    this.#session.fail(new Http2Error(ENHANCE_YOUR_CALM, message))
  }

  closeStalled(now: number, forMs: number): void {
    for (const each of [...this.#requests])
      if (now - each.stalledSince(now) > forMs && each.stream.isWaiting) each.response.destroy()
    for (const each of [...this.#refused]) each.closeStalled(now, forMs)
  }

  isSlow(now: number, forMs: number): boolean {
    for (const each of this.#requests) if (now - each.stalledSince(now) <= forMs) return false
    return this.#requests.size > 0
  }

  stop(): void {
    this.#stopped = true
    this.#turns.stop()
    this.#direct.end()
    this.buffered()
    this.socket.off('data', this.#onData).off('end', this.#onEnd)
  }

  /** A client that ends its side can neither open windows nor cancel: it has left. */
  readonly #onEnd = (): void => {
    if (this.#requests.size === 0) this.closeIdle()
    else this.socket.destroy()
  }

  readonly #onClose = (): void => {
    this.stop()
    this.#session.close()
    // Their responses were on the way.
    for (const request of [...this.#requests]) request.failed()
    this.#requests.clear()
  }
}
