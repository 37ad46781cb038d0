/**
 * One connection to a target: one request at a time, no pipelining, so that an answer can't be taken for another
 * request's. Kept between requests; anything that comes then ends it.
 */

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { MessageParser, type MessageSink } from '../wire/message-parser.ts'
import { type Address, openSocket, connectEvent } from './connector.ts'
import {
  BodyTimeout,
  ConnectionLost,
  type RequestControl,
  type UpstreamRequest,
  ProtocolError,
  type ResponseReceiver,
} from './upstream-request.ts'
import { reset } from './reset.ts'
import { responseGrammar, type ParsedResponseHead, MAX_HEAD_BYTES } from './response-parser.ts'
import { requestHead, writeBody } from './request-writer.ts'

export interface UpstreamConnectionOwner {
  /** It can take a request. */
  connectionReady(connection: UpstreamConnection): void
  /** It is gone, for whatever reason; before `ready`, no connection could be had. */
  connectionClosed(connection: UpstreamConnection, error: Error): void
  /** It was found dead before anything of this request was written. */
  requestReturned(request: UpstreamRequest, receiver: ResponseReceiver): void
  /** A body that was still coming when its request was taken has been written to the end, or never will be. */
  uploadFinished(): void
}

export interface UpstreamConnectionSettings extends Address {
  /** As it stands in Host. */
  readonly authority: string
  /** All in ms. */
  readonly connectTimeout: number
  readonly bodyTimeout: number
  /** An idle connection is kept so long, unless the upstream says how long it keeps it. */
  readonly keepAlive: number
  readonly keepAliveMax: number
}

/** Bytes of all connections come by here, one read at a time: the reader keeps none of them. */
const buffer = Buffer.allocUnsafeSlow(64 * 1024)

/** An upstream that says how long it keeps a connection means its own clock, and its own end of the line. */
const KEEP_ALIVE_MARGIN = 1000

export class UpstreamConnection implements RequestControl, MessageSink<ParsedResponseHead> {
  /** Monotonic ms: idle, it is not to be used from then on. */
  expiresAt = 0
  readonly #settings: UpstreamConnectionSettings
  readonly #owner: UpstreamConnectionOwner
  readonly #socket: Socket
  readonly #parser: MessageParser<ParsedResponseHead> = new MessageParser(
    responseGrammar,
    MAX_HEAD_BYTES,
    this,
  )
  #receiver: ResponseReceiver | null = null
  #uploads = false
  #reserved: { readonly request: UpstreamRequest; readonly receiver: ResponseReceiver } | null = null
  /** The body of the request is not written to its end yet. */
  #writing = false
  /** Bytes of bodies that went by, in either direction. */
  #bytesMoved = 0
  /** As of the last look, and as of the beginning of the request under way. */
  #bytesAtLastCheck = 0
  #bytesAtBegin = 0
  /** Monotonic ms. */
  #busySince = 0
  #responseStarted = false
  /** Within the body of an answer. */
  #inResponseBody = false
  /** Of the answer that is coming: as {@link ParsedResponseHead} has it. */
  #keepAlive = false
  #keepAliveSeconds = 0
  #used = false
  #closed = false
  #paused = false
  /** Runs while a body comes in pieces; `#deadline` is moved at each of them, in monotonic ms. */
  #timer: NodeJS.Timeout | null = null
  #deadline = 0

  constructor(settings: UpstreamConnectionSettings, owner: UpstreamConnectionOwner) {
    this.#settings = settings
    this.#owner = owner
    const { connectTimeout } = settings
    const socket = openSocket(settings, { buffer, callback: (length) => this.#read(length) })
    this.#socket = socket
    this.#timer = setTimeout(onConnectTimeout, connectTimeout, this, connectTimeout)
    socket.once(connectEvent(settings), () => {
      this.#stopTimer()
      this.expiresAt = performance.now() + settings.keepAlive
      this.#waitUntilRead(false)
    })
    socket.on('error', (error) => this.close(this.#connectionError(error)))
    socket.on('end', () => this.#upstreamEnded())
    socket.on('close', () =>
      this.close(new ConnectionLost('the connection was closed', 'UPSTREAM_CLOSED', this.#used)),
    )
  }

  /** Who hears of the request under way; null: there is none. */
  get receiver(): ResponseReceiver | null {
    return this.#receiver
  }

  /** It holds one of the places for bodies that are still coming. */
  get uploads(): boolean {
    return this.#uploads
  }

  /** Monotonic ms: when it took the request under way. */
  get busySince(): number {
    return this.#busySince
  }

  /** Bytes a second that the bodies of the request under way have moved, in either direction. */
  rate(now: number): number {
    return ((this.#bytesMoved - this.#bytesAtBegin) * 1000) / (now - this.#busySince)
  }

  /** It waits for its client: to send more, or to read. */
  get waitsForClient(): boolean {
    return this.#paused || (this.#writing && this.#socket.writableLength === 0)
  }

  /**
   * Takes a request; nothing else is under way here.
   *
   * @param uploads it holds a place for a body that is still coming
   */
  send(request: UpstreamRequest, receiver: ResponseReceiver, uploads: boolean): void {
    this.#uploads = uploads
    this.#busySince = performance.now()
    this.#bytesAtBegin = this.#bytesMoved
    this.#writing = request.body !== null
    if (!this.#writing || !this.#used) return this.#begin(request, receiver)
    // A kept connection may be dead, and nobody has looked: a body is not risked on it before somebody has.
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
      // Not at once: behind it there may be thousands that are no longer wanted either.
      return process.nextTick(readyAgain, this)
    }
    this.#receiver = receiver
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

  readyAgain(): void {
    if (!this.#closed) this.#owner.connectionReady(this)
  }

  #finishUpload(): void {
    this.#writing = false
    if (!this.#uploads) return
    this.#uploads = false
    this.#owner.uploadFinished()
  }

  /**
   * Whether it waits for a client that is slow, at sending or at reading, as of what has moved since the last look.
   *
   * @param bytes that a client who is not slow moves in that time
   */
  isClientSlow(bytes: number): boolean {
    const bytesMoved = this.#bytesMoved - this.#bytesAtLastCheck
    this.#bytesAtLastCheck = this.#bytesMoved
    return this.waitsForClient && bytesMoved < bytes
  }

  pause(): void {
    if (this.#closed) return
    this.#paused = true
    this.#stopTimer()
    this.#socket.pause()
  }

  resume(): void {
    if (this.#closed || !this.#paused) return
    this.#paused = false
    this.#deadline = performance.now() + this.#settings.bodyTimeout
    this.#awaitBody()
    this.#socket.resume()
  }

  abort(error: Error): void {
    this.close(error)
  }

  /** Ends it, whatever it is doing. The receiver of a request under way hears of it. */
  close(error: Error): void {
    if (this.#closed) return
    this.#closed = true
    this.#stopTimer()
    this.#parser.stop()
    // A part of a request must not end like a whole one.
    if (this.#writing || this.#socket.writableLength > 0) reset(this.#socket)
    else this.#socket.destroy()
    const [receiver, reserved] = [this.#receiver, this.#reserved]
    this.#receiver = null
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
      this.#deadline = performance.now() + this.#settings.bodyTimeout
    }
    this.#receiver?.head(head)
  }

  body(chunk: Buffer | string): void {
    this.#deadline = performance.now() + this.#settings.bodyTimeout
    this.#bytesMoved += chunk.length
    this.#receiver?.data(chunk)
  }

  end(trailers: readonly string[]): void {
    const receiver = this.#receiver
    this.#receiver = null
    this.#inResponseBody = false
    this.#used = true
    this.#stopTimer()
    if (this.#paused) this.#resumeReading()
    // What is left of a request whose answer is there already would be taken for the next one.
    const reusable = this.#keepAlive && !this.#writing && !this.#closed
    this.expiresAt = performance.now() + this.#keepAliveMs(this.#keepAliveSeconds)
    receiver?.ended(trailers)
    if (reusable) return
    this.close(new ConnectionLost('the connection is not to be used again', '', true))
  }

  /** In ms. @param seconds that the upstream says; 0: it doesn't */
  #keepAliveMs(seconds: number): number {
    const { keepAlive, keepAliveMax } = this.#settings
    return seconds === 0 ? keepAlive : Math.min(Math.max(seconds * 1000 - KEEP_ALIVE_MARGIN, 0), keepAliveMax)
  }

  /** @returns false: no more is read, for now */
  #read(length: number): boolean {
    if (this.#closed) return false
    if (this.#receiver === null) {
      // Bytes that nobody asked for (CVE-2026-48931): the next request would get them for its answer.
      this.close(new ProtocolError('bytes on an idle connection'))
      return false
    }
    if (!this.#responseStarted) {
      this.#responseStarted = true
      this.#receiver.responseStarted()
    }
    try {
      const read = this.#parser.read(buffer, 0, length)
      if (this.#closed) return false
      if (read < length) this.close(new ProtocolError('bytes behind the answer'))
      else if (this.#receiver === null) this.#waitUntilRead(length === buffer.length)
      else this.#awaitBody()
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(String(error)))
    }
    return !this.#closed && !this.#paused
  }

  /**
   * It can take a request. What has come may be told in several pieces: over TLS, or where the buffer was full. The next
   * request isn't begun before all of it has been told, or bytes that came before it would be taken for its answer.
   */
  #waitUntilRead(full: boolean): void {
    if (this.#settings.tls === null && !full) this.#owner.connectionReady(this)
    else setImmediate(onPendingReadsDone, this)
  }

  /** All that had come is told. */
  pendingReadsDone(): void {
    if (!this.#closed) this.#owner.connectionReady(this)
  }

  #connectionError(error: NodeJS.ErrnoException): Error {
    // Said by TLS itself, on a new connection: what came is no TLS, or we are not wanted. That is no mere end.
    if (!this.#used && !('syscall' in error)) return error
    return new ConnectionLost(error.message, error.code ?? '', this.#used, error)
  }

  /**
   * The upstream says no more. Over TLS it may be that only the connection below has ended, which whoever is on the way
   * can do: Node doesn't tell the two apart. A body without a length may be cut short so; no other can.
   */
  #upstreamEnded(): void {
    if (!this.#closed) this.#parser.close()
    this.close(new ConnectionLost('the upstream closed the connection', 'UPSTREAM_CLOSED', this.#used))
  }

  /** The rest of a body is still to come. */
  #awaitBody(): void {
    if (!this.#inResponseBody || this.#paused || this.#timer !== null) return
    this.#timer = setTimeout(onBodyDeadline, this.#deadline - performance.now(), this)
  }

  /** The timer ran out; what has come meanwhile has moved the deadline. */
  checkBodyDeadline(): void {
    this.#timer = null
    const rest = this.#deadline - performance.now()
    if (rest > 0) this.#awaitBody()
    else this.close(new BodyTimeout('the upstream left its answer standing still'))
  }

  #resumeReading(): void {
    this.#paused = false
    this.#socket.resume()
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

function readyAgain(connection: UpstreamConnection): void {
  connection.readyAgain()
}

function beginReserved(connection: UpstreamConnection): void {
  connection.beginReserved()
}

function onPendingReadsDone(connection: UpstreamConnection): void {
  connection.pendingReadsDone()
}

function onBodyDeadline(connection: UpstreamConnection): void {
  connection.checkBodyDeadline()
}

function onConnectTimeout(connection: UpstreamConnection, timeout: number): void {
  connection.close(
    new ConnectionLost(`no connection within ${timeout} ms`, 'UPSTREAM_CONNECT_TIMEOUT', false),
  )
}
