/** A stream of an HTTP/2 connection (RFC 9113, section 5): its state, and flow control in both directions. */

import { HeldBytes } from './held-bytes.ts'
import { CANCEL, INTERNAL_ERROR, PROTOCOL_ERROR, SectionTooLarge } from './http2-errors.ts'

/** Receives the events of a stream. `ended`, `failed` or a reset of our own is its last event. */
export interface StreamReceiver {
  /**
   * A further field block: the trailers of a request; interim and final response, and its trailers.
   *
   * @param fields name, value, … raw and in order
   * @param complete false if the list is over the limits, and cut
   */
  headers(fields: readonly string[], complete: boolean, endStream: boolean): void
  data(chunk: Buffer): void
  /** The peer has ended its side. */
  ended(): void
  /** More may be written after `write` has returned false. */
  drained(): void
  /** The operating system has all that was written, and this side is ended. */
  flushed(): void
  /** @param code of RST_STREAM, of GOAWAY, or CANCEL after the end of the connection */
  failed(code: number): void
}

/** The connection, as its streams see it. */
export interface StreamOwner {
  /** @param section an encoded field section */
  sendBlock(stream: Http2Stream, section: Buffer, endStream: boolean): void
  /** @param lines further fields, as lines of HTTP/1.1 */
  sendHeaders(stream: Http2Stream, fields: readonly string[], endStream: boolean, lines: string): void
  /**
   * Sends what windows and socket admit.
   *
   * @returns the bytes that were sent
   */
  sendData(stream: Http2Stream, chunk: Buffer, endStream: boolean): number
  /** The stream has bytes to send that windows or socket do not admit yet. */
  waits(stream: Http2Stream): void
  sendReset(stream: Http2Stream, code: number): void
  sendWindowUpdate(stream: Http2Stream, bytes: number): void
  /** Both sides have ended. */
  streamClosed(stream: Http2Stream): void
  /** The bytes that are buffered for the stream have changed by this number. */
  buffered(bytes: number): void
  /** The peer has made this side reset a stream. */
  violated(): void
  readonly congested: boolean
}

export class Http2Stream {
  readonly id: number
  readonly #owner: StreamOwner
  #receiver: StreamReceiver | null = null
  /** Bytes that the peer accepts; below 0 after a change of its settings (RFC 9113, section 6.9.2). */
  sendWindow: number
  /** Bytes that were sent, and that the peer has not returned to the window. */
  unreadBytes = 0
  /** Bytes that the peer may still send, and bytes that are consumed and not returned to it yet. */
  #receiveWindow: number
  /** The size of the window; Infinity if no more room is returned. */
  #windowSize: number
  #consumed = 0
  /** Body bytes that were sent and received, in all. */
  sentBytes = 0
  receivedBytes = 0
  /** Received while paused. */
  readonly #held = new HeldBytes()
  #paused = false
  #endDelivered = false
  /** The queue of bytes to send: the parts of the body, then trailers. */
  readonly #queue: Buffer[] = []
  #queuedBytes = 0
  #trailers: string | null = null
  /** `drained` is due. */
  #blocked = false
  /** No further call of the owner of the stream: END_STREAM is sent, or due after the queue. */
  #ending = false
  localEnded = false
  remoteEnded = false
  closed = false
  /** This side has given it up: frames of the peer may be under way. */
  wasReset = false

  constructor(id: number, owner: StreamOwner, sendWindow: number, receiveWindow: number) {
    this.id = id
    this.#owner = owner
    this.sendWindow = sendWindow
    this.#receiveWindow = receiveWindow
    this.#windowSize = receiveWindow
  }

  receivedBy(receiver: StreamReceiver): void {
    this.#receiver = receiver
  }

  /** Bytes that wait to be sent. */
  get writableLength(): number {
    return this.#queuedBytes
  }

  /** More waits on the connection than DATA may add to. */
  get congested(): boolean {
    return this.#owner.congested
  }

  /** Sends the field section of a request, the first of a stream of this side. */
  open(section: Buffer, endStream: boolean): void {
    this.#owner.sendBlock(this, section, endStream)
    if (!endStream) return
    this.#ending = true
    this.#endLocal()
  }

  /**
   * @param fields name, value, …
   * @param lines further fields, as lines of HTTP/1.1
   */
  headers(fields: readonly string[], endStream: boolean, lines = ''): void {
    if (this.closed || this.#ending) return
    if (endStream) this.#ending = true
    this.#owner.sendHeaders(this, fields, endStream, lines)
    if (endStream) this.#endLocal()
  }

  /** @returns false on backpressure; `drained` follows */
  write(chunk: Buffer): boolean {
    if (this.closed || this.#ending || chunk.length === 0) return true
    this.#enqueue(chunk, false)
    if (this.#queuedBytes === 0 && !this.#owner.congested) return true
    this.#blocked = true
    this.#owner.waits(this)
    return false
  }

  /**
   * Ends this side.
   *
   * @param last a last part of the body
   * @param trailers as lines of HTTP/1.1
   */
  end(last: Buffer | null = null, trailers = ''): void {
    if (this.closed || this.#ending) return
    this.#ending = true
    this.#trailers = trailers
    if (last !== null && last.length > 0) this.#enqueue(last, trailers === '')
    if (this.#queuedBytes === 0) this.#finish()
    else this.#owner.waits(this)
  }

  #enqueue(chunk: Buffer, endStream: boolean): void {
    const sent = this.#queuedBytes === 0 ? this.#owner.sendData(this, chunk, endStream) : 0
    this.sentBytes += sent
    if (sent === chunk.length) {
      if (endStream) this.#endLocal()
      return
    }
    this.#queue.push(sent === 0 ? chunk : chunk.subarray(sent))
    this.#queued(chunk.length - sent)
  }

  #queued(bytes: number): void {
    this.#queuedBytes += bytes
    this.#owner.buffered(bytes)
  }

  /**
   * Sends some of the queue.
   *
   * @returns whether bytes were sent and others still wait
   */
  pump(): boolean {
    const chunk = this.#queue[0]
    if (chunk === undefined) {
      this.#drained()
      return false
    }
    const isLast = this.#queue.length === 1 && this.#trailers === ''
    const sent = this.#owner.sendData(this, chunk, isLast)
    this.#queued(-sent)
    this.sentBytes += sent
    if (sent === chunk.length) this.#queue.shift()
    else if (sent > 0) this.#queue[0] = chunk.subarray(sent)
    if (this.#queue.length > 0) return sent > 0
    if (isLast) this.#endLocal()
    else if (this.#trailers !== null) this.#finish()
    else this.#drained()
    return false
  }

  #drained(): void {
    if (!this.#blocked || this.#owner.congested) return
    this.#blocked = false
    this.#receiver?.drained()
  }

  /** It waits for the socket, or for room in the windows. */
  get isWaiting(): boolean {
    return !this.closed && (this.#blocked || this.#queuedBytes > 0)
  }

  /** Nothing but END_STREAM, or the trailers, is left to send. */
  #finish(): void {
    const trailers = this.#trailers ?? ''
    if (this.localEnded) return
    try {
      if (trailers !== '') this.#owner.sendHeaders(this, [], true, trailers)
      else this.#owner.sendData(this, EMPTY, true)
      this.#endLocal()
    } catch (error) {
      // It may be the peer's frame that lets the trailers leave: they must not end the connection.
      if (!(error instanceof SectionTooLarge)) throw error
      this.#owner.sendReset(this, INTERNAL_ERROR)
      this.fail(INTERNAL_ERROR, true)
    }
  }

  #endLocal(): void {
    this.localEnded = true
    if (this.remoteEnded) this.#close()
  }

  /** Called by the writer of the connection. */
  flushed(): void {
    this.#receiver?.flushed()
  }

  /**
   * Gives the stream up. Its receiver gets no further call.
   *
   * @param code of RST_STREAM
   */
  reset(code: number = CANCEL): void {
    if (this.closed) return
    this.#receiver = null
    this.wasReset = true
    this.#owner.sendReset(this, code)
    this.#close()
  }

  /**
   * Gives the stream up without a word to the peer. Its receiver gets no further call; what arrives is
   * dropped, up to the window. Nothing more is sent: without END_STREAM, a body does not look complete.
   */
  abandon(): void {
    if (this.closed) return
    this.#receiver = null
    this.#ending = true
    this.#windowSize = Infinity
    this.#paused = false
    this.#owner.buffered(-this.#queuedBytes - this.#held.allocated)
    this.#queue.length = 0
    this.#queuedBytes = 0
    this.#held.clear()
  }

  /** Gives the stream up because of its peer. This counts as a reset by the peer (CVE-2025-8671). */
  violate(): void {
    if (this.closed) return
    this.#owner.violated()
    this.reset(PROTOCOL_ERROR)
  }

  /** Withholds received bytes and window updates. */
  pause(): void {
    this.#paused = true
  }

  resume(): void {
    if (!this.#paused) return
    this.#paused = false
    // The receiver may stop again, and go on again, within a call.
    while (!this.#isPaused) {
      const chunk = this.#take()
      if (chunk === null) break
      this.#deliver(chunk)
    }
    if (this.remoteEnded && !this.#isPaused) this.#deliverEnd()
  }

  get #isPaused(): boolean {
    return this.#paused
  }

  #take(): Buffer | null {
    const before = this.#held.allocated
    const chunk = this.#held.take()
    if (chunk !== null && !this.closed) this.#owner.buffered(this.#held.allocated - before)
    return chunk
  }

  #deliver(chunk: Buffer): void {
    this.#receiver?.data(chunk)
    this.consumed(chunk.length)
  }

  /**
   * @param bytes of a DATA frame, padding included
   * @returns false: the peer had no room for them
   */
  admits(bytes: number): boolean {
    this.#receiveWindow -= bytes
    return this.#receiveWindow >= 0
  }

  received(chunk: Buffer): void {
    this.receivedBytes += chunk.length
    if (!this.#paused && this.#held.isEmpty) return this.#deliver(ownCopy(chunk))
    const before = this.#held.allocated
    this.#held.add(chunk)
    this.#owner.buffered(this.#held.allocated - before)
  }

  /** The receiver has buffered more received bytes, or fewer, by this number. */
  holds(bytes: number): void {
    this.#owner.buffered(bytes)
  }

  /** Returns room to the peer, in steps of half the window. */
  consumed(bytes: number): void {
    this.#consumed += bytes
    if (this.remoteEnded || this.closed || this.#consumed * 2 < this.#windowSize) return
    const returned = this.#consumed
    this.#consumed = 0
    this.#receiveWindow += returned
    this.#owner.sendWindowUpdate(this, returned)
  }

  /** The peer has ended its side. */
  receivedEnd(): void {
    this.remoteEnded = true
    if (!this.#paused && this.#held.isEmpty) this.#deliverEnd()
    if (this.localEnded) this.#close()
  }

  #deliverEnd(): void {
    if (this.#endDelivered) return
    this.#endDelivered = true
    this.#receiver?.ended()
  }

  receivedHeaders(fields: readonly string[], complete: boolean, endStream: boolean): void {
    this.#receiver?.headers(fields, complete, endStream)
  }

  /**
   * The peer, or the end of the connection, has ended the stream.
   *
   * @param local this side gives it up
   */
  fail(code: number, local: boolean): void {
    if (this.closed) return
    const receiver = this.#receiver
    this.#receiver = null
    this.wasReset = local
    this.#close()
    receiver?.failed(code)
  }

  #close(): void {
    if (this.closed) return
    this.closed = true
    this.#owner.buffered(-this.#queuedBytes - this.#held.allocated)
    this.#queue.length = 0
    this.#queuedBytes = 0
    this.#owner.streamClosed(this)
  }
}

/** Small parts of a read are copied, so that their receiver does not keep the whole read. */
function ownCopy(chunk: Buffer): Buffer {
  return chunk.length * 4 < chunk.buffer.byteLength ? Buffer.from(chunk) : chunk
}

const EMPTY = Buffer.alloc(0)
