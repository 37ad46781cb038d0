/**
 * One HTTP/1.1 connection to a target. It carries one request at a time without pipelining, so a response
 * always belongs to the current request. The connection is reused; any bytes between two requests close it.
 */

import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { performance } from 'node:perf_hooks'
import { Deadlines, type Timed } from '../../lib/deadlines.ts'
import { resetTls } from '../../lib/node-internals.ts'
import { MessageParser } from '../wire/message-parser.ts'
import type { MessageSink } from '../wire/message-grammar.ts'
import { openSocket, connectEvent } from './connector.ts'
import type { ConnectionOwner, ConnectionSettings, PooledConnection } from './pooled-connection.ts'
import {
  BodyTimeout,
  ConnectionLost,
  notConnected,
  type RequestControl,
  type UpstreamRequest,
  ProtocolError,
  type ResponseReceiver,
} from './upstream-request.ts'
import { responseGrammar, type ParsedResponseHead, MAX_HEAD_BYTES } from './response-parser.ts'
import { requestHead, writeBody } from './request-writer.ts'
import type { RequestSlot } from './slot-eviction.ts'

/**
 * One read buffer for all connections: the parser copies what it retains. It holds more than the 64 KiB of
 * the largest packet of a local upstream, so that a response of that size arrives in one read.
 */
const buffer = Buffer.allocUnsafeSlow(128 * 1024)

/** Milliseconds subtracted from the announced timeout of the upstream, for latency and clock differences. */
const KEEP_ALIVE_MARGIN = 1000

/** When response bodies must have made progress. */
const deadlines = new Deadlines()

export class UpstreamConnection
  implements PooledConnection, RequestControl, RequestSlot, Timed, MessageSink<ParsedResponseHead>
{
  /** It is open and idle, and all received bytes are processed. */
  hasRoom = false
  isListed = false
  readonly capacity = 1
  readonly hasWindow = true
  readonly slots: readonly [RequestSlot] = [this]
  /** Monotonic ms: an idle connection is not used from then on. */
  expiresAt = 0
  readonly #settings: ConnectionSettings
  readonly #owner: ConnectionOwner
  readonly #socket: Socket
  readonly #parser: MessageParser<ParsedResponseHead> = new MessageParser(
    responseGrammar,
    MAX_HEAD_BYTES,
    this,
  )
  receiver: ResponseReceiver | null = null
  uploads = false
  #reserved: { readonly request: UpstreamRequest; readonly receiver: ResponseReceiver } | null = null
  /** The body of the request is not completely written yet. */
  #writing = false
  /** Body bytes in both directions. */
  #bytesMoved = 0
  /** The value of `#bytesMoved` at the last check, and at the start of the request in flight. */
  #bytesAtLastCheck = 0
  #bytesAtBegin = 0
  busySince = 0
  #responseStarted = false
  /** The response head is received, its end is not. */
  #inResponseBody = false
  /** Whether the current response permits reuse, and its timeout: see {@link ParsedResponseHead}. */
  #keepAlive = false
  #keepAliveSeconds = 0
  #used = false
  #closed = false
  #paused = false
  readonly #connectTimer: NodeJS.Timeout
  /** Monotonic ms: the response body must make progress by then. Each part moves it. */
  deadline = 0
  /** The index among the deadlines; -1 if no response body is awaited. */
  index = -1

  constructor(settings: ConnectionSettings, owner: ConnectionOwner) {
    this.#settings = settings
    this.#owner = owner
    const { connectTimeout } = settings
    const socket = openSocket(settings, { buffer, callback: (length) => this.#read(length) })
    this.#socket = socket
    this.#connectTimer = setTimeout(() => this.close(notConnected(connectTimeout)), connectTimeout)
    socket.once(connectEvent(settings), () => {
      clearTimeout(this.#connectTimer)
      this.expiresAt = performance.now() + settings.keepAlive
      this.#waitUntilRead(false)
    })
    socket.on('error', (error) => this.close(this.#connectionError(error)))
    socket.on('end', () => this.#upstreamEnded())
    socket.on('close', () =>
      this.close(new ConnectionLost('the connection was closed', 'UPSTREAM_CLOSED', this.#used)),
    )
  }

  get isIdle(): boolean {
    return this.hasRoom
  }

  get room(): number {
    return this.hasRoom ? 1 : 0
  }

  get responding(): boolean {
    return this.#inResponseBody
  }

  /** Body bytes a second of the request in flight, in both directions. */
  rate(now: number): number {
    return ((this.#bytesMoved - this.#bytesAtBegin) * 1000) / (now - this.busySince)
  }

  /** The connection waits for its client to send or to read. */
  get waitsForClient(): boolean {
    return this.#paused || (this.#writing && this.#socket.writableLength === 0)
  }

  send(request: UpstreamRequest, receiver: ResponseReceiver, uploads: boolean): void {
    this.hasRoom = false
    this.uploads = uploads
    this.busySince = performance.now()
    this.#bytesAtBegin = this.#bytesMoved
    this.#writing = request.body !== null
    if (!this.#writing || !this.#used) return this.#begin(request, receiver)
    // A reused connection may be closed without notice yet. A request with a body waits until pending events
    // are processed, as it cannot be repeated.
    this.#reserved = { request, receiver }
    setImmediate(beginReserved, this)
  }

  beginReserved(): void {
    const reserved = this.#reserved
    this.#reserved = null
    if (reserved !== null) this.#begin(reserved.request, reserved.receiver)
  }

  #begin(request: UpstreamRequest, receiver: ResponseReceiver): void {
    if (!receiver.connected(this)) {
      this.#finishUpload()
      // Deferred, as thousands of requests that wait after this one may be cancelled too.
      return process.nextTick(offer, this)
    }
    this.receiver = receiver
    this.#responseStarted = false
    this.#parser.begin(request.method === 'HEAD')
    const { body, length } = request
    let head: string
    try {
      head = requestHead(this.#settings.authority, request)
    } catch (error) {
      return this.close(error instanceof Error ? error : new Error(String(error)))
    }
    if (body === null) {
      this.#socket.write(head, 'latin1')
      return
    }
    writeBody(this.#socket, head, body, length ?? Infinity, {
      sent: (bytes) => {
        this.#bytesMoved += bytes
        receiver.requestProgress()
      },
      done: () => {
        this.#finishUpload()
        receiver.requestProgress()
      },
      failed: (error) => this.close(error),
    })
  }

  /** All received bytes have been processed: the connection is offered for the next request. */
  offer(): void {
    if (this.#closed) return
    this.hasRoom = true
    this.#owner.connectionReady(this)
  }

  #finishUpload(): void {
    this.#writing = false
    if (!this.uploads) return
    this.uploads = false
    this.#owner.uploadFinished()
  }

  /**
   * Whether the connection waits for a client that has moved less than that since the last check.
   *
   * @param bytes the least that a client moves in that time
   */
  isClientSlow(bytes: number): boolean {
    const bytesMoved = this.#bytesMoved - this.#bytesAtLastCheck
    this.#bytesAtLastCheck = this.#bytesMoved
    return this.waitsForClient && bytesMoved < bytes
  }

  /** A target that is gone without a trace keeps one request at a time: their own timeouts find it. */
  checkAlive(): void {}

  pause(): void {
    if (this.#closed) return
    this.#paused = true
    deadlines.remove(this)
    this.#socket.pause()
  }

  resume(): void {
    if (this.#closed || !this.#paused) return
    this.#paused = false
    this.#progress()
    this.#awaitBody()
    this.#socket.resume()
  }

  close(error: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.hasRoom = false
    clearTimeout(this.#connectTimer)
    deadlines.remove(this)
    this.#parser.stop()
    // A reset keeps an incomplete request from looking complete.
    if (this.#writing || this.#socket.writableLength > 0) reset(this.#socket)
    else this.#socket.destroy()
    const [receiver, reserved] = [this.receiver, this.#reserved]
    this.receiver = null
    this.#reserved = null
    this.#owner.connectionClosed(this, error)
    this.#finishUpload()
    receiver?.failed(error)
    if (reserved !== null) this.#owner.requestReturned(reserved.request, reserved.receiver)
  }

  head(head: ParsedResponseHead): void {
    if (head.status >= 200) {
      this.#inResponseBody = true
      this.#keepAlive = head.keepAlive
      this.#keepAliveSeconds = head.keepAliveSeconds
      this.#progress()
    }
    this.receiver?.head(head)
  }

  body(chunk: Buffer | string): void {
    this.#progress()
    this.#bytesMoved += chunk.length
    this.receiver?.data(chunk)
  }

  end(trailers: readonly string[]): void {
    const receiver = this.receiver
    this.receiver = null
    this.#inResponseBody = false
    deadlines.remove(this)
    this.#used = true
    if (this.#paused) {
      this.#paused = false
      this.#socket.resume()
    }
    // The upstream would take the rest of an unfinished request for the next one.
    const reusable = this.#keepAlive && !this.#writing && !this.#closed
    this.expiresAt = performance.now() + this.#keepAliveMs(this.#keepAliveSeconds)
    receiver?.ended(trailers)
    if (reusable) return
    this.close(new ConnectionLost('the connection is not reusable', '', true))
  }

  /**
   * @param seconds as announced by the upstream; 0 if not
   * @returns ms
   */
  #keepAliveMs(seconds: number): number {
    const { keepAlive, keepAliveMax } = this.#settings
    return seconds === 0 ? keepAlive : Math.min(Math.max(seconds * 1000 - KEEP_ALIVE_MARGIN, 0), keepAliveMax)
  }

  /** @returns false to stop reading for now */
  #read(length: number): boolean {
    if (this.#closed) return false
    if (this.receiver === null) {
      // Unsolicited bytes (CVE-2026-48931): the next request would take them for its response.
      this.close(new ProtocolError('bytes on an idle connection'))
      return false
    }
    if (!this.#responseStarted) {
      this.#responseStarted = true
      this.receiver.responseStarted()
    }
    try {
      const read = this.#parser.read(buffer, 0, length)
      if (this.#closed) return false
      if (read < length) this.close(new ProtocolError('bytes after the response'))
      else if (this.receiver === null) this.#waitUntilRead(length === buffer.length)
      else this.#awaitBody()
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(String(error)))
    }
    return !this.#closed && !this.#paused
  }

  /**
   * Offers the connection for the next request once all received bytes are processed. Over TLS, or if the
   * buffer was full, one read may arrive in several calls. The next request would take the rest for its
   * response.
   */
  #waitUntilRead(full: boolean): void {
    if (this.#settings.tls === null && !full) this.offer()
    else setImmediate(offer, this)
  }

  #connectionError(error: NodeJS.ErrnoException): Error {
    // A TLS error on a new connection: the peer speaks no TLS, or refuses the handshake. It is not closed.
    if (!this.#used && !('syscall' in error)) return error
    return new ConnectionLost(error.message, error.code ?? '', this.#used, error)
  }

  /**
   * The upstream has ended its side. Over TLS, Node.js does not tell a close_notify from a FIN, which an
   * attacker on the network path can forge. Only a body that is delimited by the end of the connection can be
   * truncated so.
   */
  #upstreamEnded(): void {
    if (!this.#closed) this.#parser.close()
    this.close(new ConnectionLost('the upstream closed the connection', 'UPSTREAM_CLOSED', this.#used))
  }

  /** The rest of a body must make progress in time. */
  #awaitBody(): void {
    if (this.#inResponseBody && !this.#paused && this.index < 0) deadlines.add(this, this.deadline)
  }

  #progress(): void {
    this.deadline = performance.now() + this.#settings.bodyTimeout
  }

  expired(): void {
    this.close(new BodyTimeout('the upstream stopped sending inside the response body'))
  }
}

function offer(connection: UpstreamConnection): void {
  connection.offer()
}

function beginReserved(connection: UpstreamConnection): void {
  connection.beginReserved()
}

/**
 * Closes a connection by RST at once: unsent bytes are dropped, and TLS sends no close_notify. An upstream
 * may take a FIN inside a request for its end: WSGI servers of Python then run the application with a
 * truncated body.
 */
function reset(socket: Socket): void {
  if (socket instanceof TLSSocket) resetTls(socket)
  else socket.resetAndDestroy()
}
