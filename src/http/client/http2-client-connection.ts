/**
 * One HTTP/2 connection to a target (RFC 9113). It takes requests once the target has sent its SETTINGS:
 * nothing of a request reaches a server that does not speak HTTP/2, and the number of streams that it permits
 * is known.
 */

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { TLSSocket } from 'node:tls'
import { Deadlines } from '../../lib/deadlines.ts'
import { InFlight } from '../../lib/in-flight.ts'
import { type Http2Error, NO_ERROR, REFUSED_STREAM } from '../wire/http2/http2-errors.ts'
import { Http2Session } from '../wire/http2/http2-session.ts'
import type { SessionOwner } from '../wire/http2/session-owner.ts'
import { UNANNOUNCED_BY_SERVER } from '../wire/http2/section-limits.ts'
import type { ScarceWindow } from '../wire/http2/sender.ts'
import type { Http2Stream } from '../wire/http2/stream.ts'
import { AbandonedStreams } from './abandoned-streams.ts'
import { connectEvent, openSocket } from './connector.ts'
import { requestFields } from './http2-request-fields.ts'
import type { ConnectionOwner, ConnectionSettings, PooledConnection } from './pooled-connection.ts'
import {
  ConnectionLost,
  NoHttp2,
  notConnected,
  ProtocolError,
  type ResponseReceiver,
  Unprocessed,
  type UpstreamRequest,
} from './upstream-request.ts'
import { UpstreamStream, type UpstreamStreamOwner } from './upstream-stream.ts'
import { relieveWindow, WindowShares } from './window-sharing.ts'

/** Requests of a connection at once: the least that RFC 9113, section 6.5.2, recommends to permit. */
export const MAX_STREAMS = 100
/** Bytes of a response that may wait for its client. A connection holds as many for each of its streams. */
const STREAM_WINDOW = 128 * 1024
/** Milliseconds without a byte after which a target with requests in flight is asked whether it is there. */
const SILENCE = 10_000
const PING_TIMEOUT = 10_000
/** Milliseconds. Servers of gRPC close silent connections with more than one PING in five minutes. */
const PING_INTERVAL = 310_000
const HEADER_BYTES = 64 * 1024
const HEADER_FIELDS = 2000

export class Http2Connection implements PooledConnection, SessionOwner, UpstreamStreamOwner {
  /** Monotonic ms: an idle connection is not used from then on. */
  expiresAt = Infinity
  isListed = false
  /** The requests in flight. */
  readonly slots: InFlight<UpstreamStream> = new InFlight()
  readonly #abandoned = new AbandonedStreams()
  readonly #shares = new WindowShares(this.slots)
  /** When response bodies must have made progress. */
  readonly deadlines = new Deadlines(this.slots)
  readonly #settings: ConnectionSettings
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  #session: Http2Session | null = null
  #state: 'connecting' | 'open' | 'draining' | 'closed' = 'connecting'
  /** A response has ended on this connection. */
  #used = false
  /** Monotonic ms of the last bytes of the target. */
  #receivedAt = 0
  /** Monotonic ms: since then there has always been a request in flight. */
  #busySince = 0
  /** Monotonic ms of our last PING. */
  #pingedAt = -Infinity
  #error: Error | null = null
  /** The owners of its requests are noted: GOAWAY may come first, and the end of the connection later. */
  #suspected = false
  readonly #connectTimer: NodeJS.Timeout

  constructor(settings: ConnectionSettings, owner: ConnectionOwner) {
    this.#settings = settings
    this.#owner = owner
    const { connectTimeout } = settings
    const socket = openSocket(settings, null, 'h2')
    this.#socket = socket
    this.#connectTimer = setTimeout(() => this.close(notConnected(connectTimeout)), connectTimeout)
    socket.once(connectEvent(settings), () => this.#connected())
    socket.on('error', (error) => this.#broken(this.#connectionError(error)))
    socket.on('end', () => this.#ended())
    socket.on('close', () => this.#ended())
  }

  get bodyTimeout(): number {
    return this.#settings.bodyTimeout
  }

  get hasRoom(): boolean {
    return this.#state === 'open' && this.#taken < this.#streams && this.#session?.canOpen === true
  }

  get #taken(): number {
    return this.slots.size + this.#abandoned.size
  }

  get #streams(): number {
    return this.#settings.streams ?? MAX_STREAMS
  }

  get room(): number {
    if (this.#state !== 'open' || this.#session === null) return 0
    return Math.max(0, Math.min(this.#streams - this.#taken, this.#session.streamRoom))
  }

  get capacity(): number {
    return this.#state === 'connecting' ? this.#streams : this.room + this.slots.size
  }

  get hasWindow(): boolean {
    return this.#session?.hasWindow === true
  }

  get isIdle(): boolean {
    return this.#state === 'open' && this.slots.size === 0
  }

  send(request: UpstreamRequest, receiver: ResponseReceiver, uploads: boolean): void {
    const stream = new UpstreamStream(request, receiver, uploads, this)
    const wasIdle = this.slots.size === 0
    this.slots.add(stream)
    this.expiresAt = Infinity
    if (wasIdle) this.#busySince = stream.busySince
    if (request.body === null || !this.#used || !wasIdle) return stream.begin()
    // An idle connection may be closed without notice yet. A request with a body can not be repeated.
    stream.isReserved = true
    setImmediate(beginReserved, this, stream)
  }

  beginReserved(stream: UpstreamStream): void {
    if (!stream.isReserved) return
    stream.isReserved = false
    if (this.#state === 'open') return stream.begin()
    this.#return(stream)
    // It may have been the last one of a connection that drains.
    this.streamGone()
  }

  #return(stream: UpstreamStream): void {
    this.slots.remove(stream)
    if (stream.uploads) this.#owner.uploadFinished()
    this.#owner.requestReturned(stream.request, stream.receiver)
  }

  open(request: UpstreamRequest, stream: UpstreamStream): Http2Stream {
    const { tls, authority } = this.#settings
    const { pseudo, lines } = requestFields(request, tls === null ? 'http' : 'https', authority)
    if (this.#session === null) throw new ConnectionLost('the connection is closed', 'UPSTREAM_CLOSED', false)
    return this.#session.open(pseudo, lines, request.body === null, stream)
  }

  streamEnded(stream: UpstreamStream): void {
    this.slots.remove(stream)
    this.#used = true
    if (this.#state === 'closed') return
    // Deferred: the session has not ended the stream yet, and thousands of waiting requests may be cancelled.
    process.nextTick(streamGone, this)
  }

  streamGone(): void {
    const idle = this.slots.size === 0
    if (this.#state === 'draining' && idle)
      return this.close(new ConnectionLost('the connection is drained', '', true))
    if (this.#state !== 'open') return
    if (idle) this.expiresAt = performance.now() + this.#settings.keepAlive
    if (idle || this.hasRoom) this.#owner.connectionReady(this)
  }

  uploadFinished(): void {
    this.#owner.uploadFinished()
  }

  /**
   * If many streams are given up, or may hold the window, the connection takes no further requests: the last
   * one that ends closes it.
   */
  giveUp(stream: Http2Stream, code: number): void {
    this.#abandoned.giveUp(stream, code)
    const permitted = Math.min(this.#streams, this.#session?.permittedStreams ?? 0)
    const { size } = this.#abandoned
    if (this.#abandoned.areMany(permitted) || (size > 0 && !this.hasWindow)) this.#drain()
  }

  faultOf(stream: UpstreamStream, code: number): Error {
    const error = this.#error
    if (error instanceof ConnectionLost) return this.#lost(error, stream)
    if (error !== null) return error
    // Streams above the last one of a GOAWAY fail with this code too.
    if (code === REFUSED_STREAM) return new Unprocessed(this.#session?.isEnding === true, stream.intact)
    return new ProtocolError(`the upstream reset the stream (error code ${code})`)
  }

  /** Servers close idle connections: it is no fault if the target has sent nothing since the request. */
  #lost(error: ConnectionLost, { busySince }: UpstreamStream): ConnectionLost {
    // One error for all: it counts as one failure of the target.
    if (!this.#used || this.#receivedAt >= busySince) return error
    const { message, code, cause } = error
    return new ConnectionLost(message, code, true, cause)
  }

  goAwayReceived(errorCode: number): void {
    if (this.#state === 'connecting') return this.close(new NoHttp2('it refuses the connection by GOAWAY'))
    if (errorCode !== NO_ERROR) this.#noteSuspects()
    this.#drain()
  }

  /** Takes no further requests, and is closed after the last one. */
  #drain(): void {
    if (this.#state !== 'open') return
    this.#state = 'draining'
    this.#owner.connectionDraining(this)
    this.streamGone()
  }

  settingsReceived(): void {
    if (this.#state === 'connecting') {
      this.#state = 'open'
      clearTimeout(this.#connectTimer)
      this.expiresAt = performance.now() + this.#settings.keepAlive
    }
    this.#owner.connectionReady(this)
  }

  /** A server opens no streams. */
  streamOpened(): null {
    return null
  }

  shareOf({ id }: Http2Stream, window: ScarceWindow): number {
    return this.#shares.of(id, window)
  }

  /** The receiver of the stream knows, unless the stream was given up. */
  streamClosed(stream: Http2Stream): void {
    if (this.#abandoned.delete(stream)) process.nextTick(streamGone, this)
  }

  checkAlive(now: number): void {
    if (this.#abandoned.size > 0) this.#abandoned.resetSome()
    if (this.#state === 'connecting' || this.slots.size === 0) return
    if (!this.hasWindow) relieveWindow(this.slots)
    if (now - Math.max(this.#receivedAt, this.#busySince) < SILENCE) return
    if (this.#pingedAt > this.#receivedAt) {
      if (now - this.#pingedAt < PING_TIMEOUT) return
      this.close(new ConnectionLost(`no answer to PING within ${PING_TIMEOUT} ms`, 'UPSTREAM_SILENT', false))
    } else if (now - this.#pingedAt >= PING_INTERVAL) {
      this.#pingedAt = now
      this.#session?.ping()
    }
  }

  /** The target breaks the protocol. */
  failing({ message }: Http2Error): void {
    if (this.#state === 'connecting') return
    this.#noteSuspects()
    this.#error = new ProtocolError(message)
  }

  failed({ message }: Http2Error): void {
    this.close(this.#error ?? new NoHttp2(message))
  }

  /** The target has ended the connection. */
  #broken(error: Error): void {
    if (this.#state === 'open' || this.#state === 'draining') this.#noteSuspects()
    this.close(error)
  }

  /** Suspects the owners of requests that were written while the connection was alive. */
  #noteSuspects(): void {
    const { suspects } = this.#settings
    if (suspects === undefined || this.#suspected) return
    this.#suspected = true
    const written = [...this.slots].filter(
      ({ isReserved, busySince }) => !isReserved && !(this.#used && this.#receivedAt < busySince),
    )
    suspects.note(written.map(({ receiver }) => receiver.owner))
  }

  close(error: Error): void {
    if (this.#state === 'closed') return
    this.#state = 'closed'
    this.#error = error
    clearTimeout(this.#connectTimer)
    this.#closeSocket()
    const reserved = [...this.slots].filter((stream) => stream.isReserved)
    for (const stream of reserved) stream.isReserved = false
    this.#owner.connectionClosed(this, error)
    this.#session?.close()
    for (const stream of reserved) this.#return(stream)
    for (const stream of [...this.slots]) stream.failed(NO_ERROR)
    this.deadlines.stop()
  }

  /** The GOAWAY leaves if the target reads. */
  #closeSocket(): void {
    this.#session?.goAway()
    this.#session?.flush()
    if (this.#session !== null && this.#socket.writableLength === 0) this.#socket.destroySoon()
    else this.#socket.destroy()
  }

  #connected(): void {
    const socket = this.#socket
    if (socket instanceof TLSSocket && socket.alpnProtocol !== 'h2')
      return this.close(new NoHttp2('ALPN did not select h2'))
    const session = new Http2Session(
      socket,
      {
        role: 'client',
        concurrentStreams: this.#streams,
        headerBytes: HEADER_BYTES,
        headerFields: HEADER_FIELDS,
        streamWindow: STREAM_WINDOW,
        connectionWindow: STREAM_WINDOW * this.#streams,
        sections: UNANNOUNCED_BY_SERVER,
      },
      this,
    )
    this.#session = session
    socket.on('data', (chunk: Buffer) => {
      this.#receivedAt = performance.now()
      session.receive(chunk)
    })
  }

  #connectionError(error: NodeJS.ErrnoException): Error {
    if (error.code === 'ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL') return new NoHttp2('it refuses ALPN h2')
    if (this.#state === 'connecting' && !('syscall' in error)) return error
    return new ConnectionLost(error.message, error.code ?? '', false, error)
  }

  #ended(): void {
    if (this.#state === 'connecting' && this.#session !== null)
      return this.close(new NoHttp2('it closed the connection without SETTINGS'))
    this.#broken(new ConnectionLost('the upstream closed the connection', 'UPSTREAM_CLOSED', false))
  }
}

function beginReserved(connection: Http2Connection, stream: UpstreamStream): void {
  connection.beginReserved(stream)
}

function streamGone(connection: Http2Connection): void {
  connection.streamGone()
}
