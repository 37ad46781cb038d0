/**
 * One request on a connection of HTTP/2, and its response. The session keeps the states of RFC 9113, section
 * 5.1; this class checks the message: its sections, their order, and its length.
 */

import { performance } from 'node:perf_hooks'
import type { Readable } from 'node:stream'
import type { Deadlines, Timed } from '../../lib/deadlines.ts'
import { responseFields, trailerFields } from '../wire/http2/field-list.ts'
import { CANCEL, NO_ERROR, PROTOCOL_ERROR } from '../wire/http2/http2-errors.ts'
import type { Http2Stream, StreamReceiver } from '../wire/http2/stream.ts'
import type { BodyWriteListener } from './request-writer.ts'
import type { RequestSlot } from './slot-eviction.ts'
import {
  BodyTimeout,
  ProtocolError,
  type RequestControl,
  type ResponseReceiver,
  type UpstreamRequest,
} from './upstream-request.ts'

export interface UpstreamStreamOwner {
  /** Opens the stream. Throws a NotForwardable, or a SectionTooLarge. */
  open(request: UpstreamRequest, stream: UpstreamStream): Http2Stream
  /** The stream has ended: another request may take its place. */
  streamEnded(stream: UpstreamStream): void
  /**
   * Ends the stream before its peer does. It gets no further event.
   *
   * @param code of RST_STREAM
   */
  giveUp(stream: Http2Stream, code: number): void
  /** The upload slot is free: the body is completely written, or never will be. */
  uploadFinished(): void
  /** The fault of a stream that the peer or the end of the connection has ended. */
  faultOf(stream: UpstreamStream, code: number): Error
  /** The deadlines of the streams that have not ended. */
  readonly deadlines: Deadlines
  /** Milliseconds that a body may stand still. */
  readonly bodyTimeout: number
}

export class UpstreamStream implements StreamReceiver, RequestControl, RequestSlot, Timed {
  readonly request: UpstreamRequest
  readonly receiver: ResponseReceiver
  readonly busySince: number = performance.now()
  /** Monotonic ms: the response body must make progress by then. */
  deadline = Infinity
  /** It waits until pending events are processed. Only its connection writes it. */
  isReserved = false
  /** The index in `InFlight`; -1 outside it. */
  index = -1
  readonly #owner: UpstreamStreamOwner
  #stream: Http2Stream | null = null
  #body: Http2Body | null = null
  uploads: boolean
  /** The body of the request is not completely written yet. */
  #writing: boolean
  #responseStarted = false
  /** The head of the final response is received. */
  #headReceived = false
  /** Bytes of the response body that may follow, and that must. */
  #most = Infinity
  #least = 0
  #trailers: readonly string[] = NO_TRAILERS
  #paused = false
  #ended = false
  #bytesMoved = 0
  #bytesAtLastCheck = 0
  #readAtLastCheck = -1

  constructor(
    request: UpstreamRequest,
    receiver: ResponseReceiver,
    uploads: boolean,
    owner: UpstreamStreamOwner,
  ) {
    this.request = request
    this.receiver = receiver
    this.uploads = uploads
    this.#writing = request.body !== null
    this.#owner = owner
  }

  /** Writes the request, unless it has ended or is cancelled. */
  begin(): void {
    if (this.#ended) return
    if (!this.receiver.connected(this)) return this.#end()
    const { body, length } = this.request
    try {
      this.#stream = this.#owner.open(this.request, this)
      if (body !== null)
        this.#body = new Http2Body(body, length ?? Infinity, this.#stream, {
          sent: (bytes) => {
            this.#bytesMoved += bytes
            if (this.request.grpc === true) this.#progress()
            this.receiver.requestProgress()
          },
          done: () => {
            this.#writing = false
            this.#finishUpload()
            this.receiver.requestProgress()
          },
          failed: (error) => this.close(error),
        })
    } catch (error) {
      this.close(error instanceof Error ? error : new Error(String(error)))
    }
  }

  get id(): number {
    return this.#stream?.id ?? 0
  }

  /** Nothing of the request body is taken. */
  get intact(): boolean {
    return this.#body?.intact ?? true
  }

  get waitsForClient(): boolean {
    return this.#paused || (this.#writing && this.#stream?.writableLength === 0)
  }

  get responding(): boolean {
    return this.#headReceived
  }

  /** Bytes of the body that the target has not read. */
  get unreadBytes(): number {
    return this.#stream?.unreadBytes ?? 0
  }

  /** The body waits for the window of the connection. */
  get waitsForWindow(): boolean {
    const stream = this.#stream
    return stream !== null && stream.writableLength > 0 && stream.sendWindow > 0 && !stream.congested
  }

  /** Whether the target has read nothing of the body since the last call. */
  readsNothing(): boolean {
    const before = this.#readAtLastCheck
    this.#readAtLastCheck = (this.#stream?.sentBytes ?? 0) - this.unreadBytes
    return this.#readAtLastCheck === before
  }

  rate(now: number): number {
    return (this.#bytesMoved * 1000) / (now - this.busySince)
  }

  isClientSlow(bytes: number): boolean {
    const moved = this.#bytesMoved - this.#bytesAtLastCheck
    this.#bytesAtLastCheck = this.#bytesMoved
    return this.waitsForClient && moved < bytes
  }

  drained(): void {
    if (!this.#writing) return
    if (this.request.grpc === true) this.#progress()
    this.receiver.requestProgress()
    this.#body?.drained()
  }

  flushed(): void {}

  headers(fields: readonly string[], complete: boolean, endStream: boolean): void {
    if (this.#ended) return
    if (!this.#responseStarted) {
      this.#responseStarted = true
      this.receiver.responseStarted()
    }
    try {
      if (!complete) throw new ProtocolError('the head is too long')
      if (this.#headReceived) this.#readTrailers(fields, endStream)
      else this.#readHead(fields, endStream)
    } catch (error) {
      this.#refuse(error)
    }
  }

  /** @param list name, value, … as received */
  #readHead(list: readonly string[], endStream: boolean): void {
    const { status, fields, length } = responseFields(list, fault)
    const head = { status, phrase: '', fields }
    if (status < 200) {
      if (endStream) throw new ProtocolError('an interim response ends the stream')
      return this.receiver.head(head)
    }
    this.#headReceived = true
    // RFC 9113, section 8.1.1: such a response may announce the length of another one.
    const bodiless = this.request.method === 'HEAD' || status === 204 || status === 304
    this.#most = bodiless ? 0 : (length ?? Infinity)
    this.#least = bodiless ? 0 : (length ?? 0)
    // A wrong length is refused before the head is passed on, where that is possible.
    if (endStream && this.#least > 0) throw new ProtocolError('the body is shorter than its Content-Length')
    this.#progress()
    this.receiver.head(head)
  }

  #readTrailers(fields: readonly string[], endStream: boolean): void {
    if (!endStream) throw new ProtocolError('a second head')
    trailerFields(fields, fault)
    this.#trailers = fields
  }

  data(chunk: Buffer): void {
    if (this.#ended) return
    if (!this.#headReceived) return this.#refuse(new ProtocolError('a body without a head'))
    this.#most -= chunk.length
    this.#least -= chunk.length
    if (this.#most < 0) return this.#refuse(new ProtocolError('the body is longer than announced'))
    if (chunk.length === 0) return
    this.#bytesMoved += chunk.length
    this.#progress()
    this.receiver.data(chunk)
  }

  ended(): void {
    if (this.#ended) return
    if (!this.#headReceived) return this.#refuse(new ProtocolError('the stream ended without a response'))
    if (this.#least > 0) return this.#refuse(new ProtocolError('the body is shorter than its Content-Length'))
    const wasWriting = this.#writing
    this.#end()
    // The response is complete before the request is: the rest of the request is not sent.
    if (wasWriting && this.#stream !== null) this.#owner.giveUp(this.#stream, NO_ERROR)
    this.receiver.ended(this.#trailers)
  }

  failed(code: number): void {
    if (this.#ended) return
    const error = this.#owner.faultOf(this, code)
    this.#end()
    this.receiver.failed(error)
  }

  pause(): void {
    if (this.#ended) return
    this.#paused = true
    this.deadline = Infinity
    this.#stream?.pause()
  }

  resume(): void {
    if (this.#ended || !this.#paused) return
    this.#paused = false
    this.#progress()
    this.#stream?.resume()
  }

  close(error: Error): void {
    this.#fail(error, CANCEL)
  }

  expired(): void {
    this.close(new BodyTimeout('the upstream stopped sending inside the response body'))
  }

  #refuse(error: unknown): void {
    this.#fail(error instanceof Error ? error : new Error(String(error)), PROTOCOL_ERROR)
  }

  #fail(error: Error, code: number): void {
    if (this.#ended) return
    this.#end()
    if (this.#stream !== null) this.#owner.giveUp(this.#stream, code)
    this.receiver.failed(error)
  }

  /** A byte has moved that the body timeout waits for. */
  #progress(): void {
    if (!this.#headReceived || this.#paused) return
    this.#owner.deadlines.move(this, performance.now() + this.#owner.bodyTimeout)
  }

  #end(): void {
    this.#ended = true
    this.#body?.release()
    this.#writing = false
    this.#finishUpload()
    this.#owner.streamEnded(this)
  }

  #finishUpload(): void {
    if (!this.uploads) return
    this.uploads = false
    this.#owner.uploadFinished()
  }
}

const NO_TRAILERS: readonly string[] = Object.freeze([])

const fault = (what: string) => new ProtocolError(what)

/** Writes a request body to a stream, at the pace of its windows. */
class Http2Body {
  readonly #body: Readable
  readonly #stream: Http2Stream
  readonly #listener: BodyWriteListener
  /** Bytes of the announced length that are not written yet; Infinity without one. */
  #remaining: number
  /** Nothing of the body is taken. */
  intact = true

  /** @param length bytes; Infinity if it is unknown */
  constructor(body: Readable, length: number, stream: Http2Stream, listener: BodyWriteListener) {
    this.#body = body
    this.#remaining = length
    this.#stream = stream
    this.#listener = listener
    body.on('data', this.#onData).once('end', this.#onEnd).once('close', this.#onClose)
    // Another stream may have stopped it.
    body.resume()
  }

  /** The stream takes more. */
  drained(): void {
    this.#body.resume()
  }

  /** Stops reading: the stream has ended. Another stream may take the body, if it is intact. */
  release(): void {
    this.#body.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
    this.#body.pause()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.intact = false
    this.#remaining -= chunk.length
    if (this.#remaining < 0)
      return this.#listener.failed(new ProtocolError('the body is longer than its Content-Length'))
    if (!this.#stream.write(chunk)) this.#body.pause()
    this.#listener.sent(chunk.length)
  }

  readonly #onEnd = (): void => {
    this.intact = false
    if (this.#remaining > 0 && this.#remaining !== Infinity)
      return this.#listener.failed(new ProtocolError('the body is shorter than its Content-Length'))
    this.#stream.end()
    this.#listener.done()
  }

  readonly #onClose = (): void => {
    if (!this.#body.readableEnded) this.#listener.failed(new ProtocolError('the body is incomplete'))
  }
}
