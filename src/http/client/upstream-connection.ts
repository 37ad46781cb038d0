/**
 * One connection to a target: one request at a time, no pipelining, so that an answer can't be taken for another
 * request's. Kept between requests; anything that comes then ends it.
 */

import type { Socket } from 'node:net'
import { performance } from 'node:perf_hooks'
import { MessageParser, type MessageSink } from '../wire/message-parser.ts'
import { type Address, open, standing } from './connector.ts'
import {
  BodyTimeout,
  ConnectionLost,
  type RequestControl,
  type UpstreamRequest,
  ProtocolError,
  type ResponseReceiver,
} from './hop.ts'
import { reset } from './reset.ts'
import { responseGrammar, type Head, MAX_HEAD } from './response-parser.ts'
import { requestHead, writeBody } from './request-writer.ts'

export interface UpstreamConnectionOwner {
  /** It can take a request. */
  ready(connection: UpstreamConnection): void
  /** It is gone, for whatever reason; before `ready`, no connection could be had. */
  lost(connection: UpstreamConnection, error: Error): void
  /** It was found dead before anything of this request was written. */
  returned(request: UpstreamRequest, receiver: ResponseReceiver): void
  /** A body that was still coming when its request was taken has been written to the end, or never will be. */
  uploaded(): void
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
const KEPT_LESS = 1000

export class UpstreamConnection implements RequestControl, MessageSink<Head> {
  /** Monotonic ms: idle, it is not to be used from then on. */
  expiresAt = 0
  readonly #settings: UpstreamConnectionSettings
  readonly #owner: UpstreamConnectionOwner
  readonly #socket: Socket
  readonly #parser: MessageParser<Head> = new MessageParser(responseGrammar, MAX_HEAD, this)
  #receiver: ResponseReceiver | null = null
  #uploads = false
  #reserved: { readonly request: UpstreamRequest; readonly receiver: ResponseReceiver } | null = null
  /** The body of the request is not written to its end yet. */
  #writing = false
  /** Bytes of bodies that went by, in either direction. */
  #moved = 0
  /** As of the last look, and as of the beginning of the request under way. */
  #movedBefore = 0
  #movedAtBegin = 0
  /** Monotonic ms. */
  #busySince = 0
  #heard = false
  /** Within the body of an answer. */
  #answering = false
  /** Of the answer that is coming: as {@link Head} has it. */
  #keeps = false
  #keptFor = 0
  #used = false
  #gone = false
  #paused = false
  /** Runs while a body comes in pieces; `#deadline` is moved at each of them, in monotonic ms. */
  #timer: NodeJS.Timeout | null = null
  #deadline = 0

  constructor(settings: UpstreamConnectionSettings, owner: UpstreamConnectionOwner) {
    this.#settings = settings
    this.#owner = owner
    const { connectTimeout } = settings
    const socket = open(settings, { buffer, callback: (length) => this.#read(length) })
    this.#socket = socket
    this.#timer = setTimeout(onConnectTimeout, connectTimeout, this, connectTimeout)
    socket.once(standing(settings), () => {
      this.#stopTimer()
      this.expiresAt = performance.now() + settings.keepAlive
      this.#free(false)
    })
    socket.on('error', (error) => this.lost(this.#faultOf(error)))
    socket.on('end', () => this.#ended())
    socket.on('close', () =>
      this.lost(new ConnectionLost('the connection was closed', 'UPSTREAM_CLOSED', this.#used)),
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
    return ((this.#moved - this.#movedAtBegin) * 1000) / (now - this.#busySince)
  }

  /** It waits for its client: to send more, or to read. */
  get idle(): boolean {
    return this.#paused || (this.#writing && this.#socket.writableLength === 0)
  }

  /**
   * Takes a request; nothing else is under way here.
   *
   * @param uploads it holds a place for a body that is still coming
   */
  take(request: UpstreamRequest, receiver: ResponseReceiver, uploads: boolean): void {
    this.#uploads = uploads
    this.#busySince = performance.now()
    this.#movedAtBegin = this.#moved
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
      this.#written()
      // Not at once: behind it there may be thousands that are no longer wanted either.
      return process.nextTick(readyAgain, this)
    }
    this.#receiver = receiver
    this.#heard = false
    this.#parser.begin(request.method === 'HEAD')
    const { body, length } = request
    let head: string
    try {
      head = requestHead(this.#settings.authority, request)
    } catch (error) {
      return this.lost(error instanceof Error ? error : new Error(String(error)))
    }
    if (body === null) {
      this.#socket.write(head, 'latin1')
      return
    }
    writeBody(this.#socket, head, body, length ?? Infinity, {
      sent: (bytes) => {
        this.#moved += bytes
        receiver.sent()
      },
      done: () => {
        this.#written()
        receiver.sent()
      },
      failed: (error) => this.lost(error),
    })
  }

  readyAgain(): void {
    if (!this.#gone) this.#owner.ready(this)
  }

  #written(): void {
    this.#writing = false
    if (!this.#uploads) return
    this.#uploads = false
    this.#owner.uploaded()
  }

  /**
   * Whether it waits for a client that is slow, at sending or at reading, as of what has moved since the last look.
   *
   * @param bytes that a client who is not slow moves in that time
   */
  isHeldBack(bytes: number): boolean {
    const moved = this.#moved - this.#movedBefore
    this.#movedBefore = this.#moved
    return this.idle && moved < bytes
  }

  pause(): void {
    if (this.#gone) return
    this.#paused = true
    this.#stopTimer()
    this.#socket.pause()
  }

  resume(): void {
    if (this.#gone || !this.#paused) return
    this.#paused = false
    this.#deadline = performance.now() + this.#settings.bodyTimeout
    this.#awaitBody()
    this.#socket.resume()
  }

  abort(error: Error): void {
    this.lost(error)
  }

  /** Ends it, whatever it is doing. The receiver of a request under way hears of it. */
  lost(error: Error): void {
    if (this.#gone) return
    this.#gone = true
    this.#stopTimer()
    this.#parser.stop()
    // A part of a request must not end like a whole one.
    if (this.#writing || this.#socket.writableLength > 0) reset(this.#socket)
    else this.#socket.destroy()
    const [receiver, reserved] = [this.#receiver, this.#reserved]
    this.#receiver = null
    this.#reserved = null
    this.#owner.lost(this, error)
    this.#written()
    receiver?.failed(error)
    if (reserved !== null) this.#owner.returned(reserved.request, reserved.receiver)
  }

  head(head: Head): void {
    if (head.status >= 200) {
      this.#answering = true
      this.#keeps = head.keeps
      this.#keptFor = head.keptFor
      this.#deadline = performance.now() + this.#settings.bodyTimeout
    }
    this.#receiver?.head(head)
  }

  body(chunk: Buffer | string): void {
    this.#deadline = performance.now() + this.#settings.bodyTimeout
    this.#moved += chunk.length
    this.#receiver?.data(chunk)
  }

  end(trailers: readonly string[]): void {
    const receiver = this.#receiver
    this.#receiver = null
    this.#answering = false
    this.#used = true
    this.#stopTimer()
    if (this.#paused) this.#goOn()
    // What is left of a request whose answer is there already would be taken for the next one.
    const kept = this.#keeps && !this.#writing && !this.#gone
    this.expiresAt = performance.now() + this.#keepTime(this.#keptFor)
    receiver?.ended(trailers)
    if (kept) return
    this.lost(new ConnectionLost('the connection is not to be used again', '', true))
  }

  /** In ms. @param seconds that the upstream says; 0: it doesn't */
  #keepTime(seconds: number): number {
    const { keepAlive, keepAliveMax } = this.#settings
    return seconds === 0 ? keepAlive : Math.min(Math.max(seconds * 1000 - KEPT_LESS, 0), keepAliveMax)
  }

  /** @returns false: no more is read, for now */
  #read(length: number): boolean {
    if (this.#gone) return false
    if (this.#receiver === null) {
      // Bytes that nobody asked for (CVE-2026-48931): the next request would get them for its answer.
      this.lost(new ProtocolError('bytes on an idle connection'))
      return false
    }
    if (!this.#heard) {
      this.#heard = true
      this.#receiver.heard()
    }
    try {
      const read = this.#parser.read(buffer, 0, length)
      if (this.#gone) return false
      if (read < length) this.lost(new ProtocolError('bytes behind the answer'))
      else if (this.#receiver === null) this.#free(length === buffer.length)
      else this.#awaitBody()
    } catch (error) {
      this.lost(error instanceof Error ? error : new Error(String(error)))
    }
    return !this.#gone && !this.#paused
  }

  /**
   * It can take a request. What has come may be told in several pieces: over TLS, or where the buffer was full. The next
   * request isn't begun before all of it has been told, or bytes that came before it would be taken for its answer.
   */
  #free(full: boolean): void {
    if (this.#settings.tls === null && !full) this.#owner.ready(this)
    else setImmediate(onTold, this)
  }

  /** All that had come is told. */
  told(): void {
    if (!this.#gone) this.#owner.ready(this)
  }

  #faultOf(error: NodeJS.ErrnoException): Error {
    // Said by TLS itself, on a new connection: what came is no TLS, or we are not wanted. That is no mere end.
    if (!this.#used && !('syscall' in error)) return error
    return new ConnectionLost(error.message, error.code ?? '', this.#used, error)
  }

  /**
   * The upstream says no more. Over TLS it may be that only the connection below has ended, which whoever is on the way
   * can do: Node doesn't tell the two apart. A body without a length may be cut short so; no other can.
   */
  #ended(): void {
    if (!this.#gone) this.#parser.close()
    this.lost(new ConnectionLost('the upstream closed the connection', 'UPSTREAM_CLOSED', this.#used))
  }

  /** The rest of a body is still to come. */
  #awaitBody(): void {
    if (!this.#answering || this.#paused || this.#timer !== null) return
    this.#timer = setTimeout(onSilence, this.#deadline - performance.now(), this)
  }

  /** The timer ran out; what has come meanwhile has moved the deadline. */
  silent(): void {
    this.#timer = null
    const rest = this.#deadline - performance.now()
    if (rest > 0) this.#awaitBody()
    else this.lost(new BodyTimeout('the upstream left its answer standing still'))
  }

  #goOn(): void {
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

function onTold(connection: UpstreamConnection): void {
  connection.told()
}

function onSilence(connection: UpstreamConnection): void {
  connection.silent()
}

function onConnectTimeout(connection: UpstreamConnection, timeout: number): void {
  connection.lost(new ConnectionLost(`no connection within ${timeout} ms`, 'UPSTREAM_CONNECT_TIMEOUT', false))
}
