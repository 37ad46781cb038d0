/**
 * The request body on its way to the upstream or to a local handler. This stream stands between the two, so
 * that the reader may destroy it without destroying the client connection, which still has to carry the
 * response. It counts bytes and enforces limit and timeout.
 */

import { Readable } from 'node:stream'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { BodySink } from '../http/server/client-request.ts'
import { passed } from './buffer-garbage.ts'
import { ignore } from '../lib/ignore.ts'

/**
 * Bytes of a part. Smaller parts that wait for the reader are gathered into one: each part is an object of
 * its own, and a client may send single bytes.
 */
const PART = 1024

/** Receives the events of a request body. */
export interface BodyOwner {
  bodyRefused(refusal: Refusal): void
  /** The whole body is received. */
  bodyReceived?(): void
  /** Reading has stopped until the reader takes some of the body. */
  bodyPaused?(): void
  /** Whether the client may be silent for longer. */
  mayBeSilent?(): boolean
}

export const bodyTooLarge: Refusal = new Refusal(
  'body_too_large',
  'The body is larger than the limit of this route.',
)
export const bodyTooSlow: Refusal = new Refusal('request_timeout', 'The body did not arrive in time.')

export class RequestBody extends Readable implements BodySink {
  readonly #exchange: Exchange
  readonly #limit: number
  readonly #stall: number
  readonly #owner: BodyOwner
  #timer: NodeJS.Timeout | null = null
  #started = false
  #ended = false
  /** The last part while it is gathered, and its bytes. */
  #gathered: Buffer | null = null
  #gatheredBytes = 0

  /**
   * @param limit bytes; one more is refused
   * @param stall milliseconds in which the client must send some of the body while the reader waits
   */
  constructor(exchange: Exchange, limit: number, stall: number, owner: BodyOwner) {
    super()
    this.#exchange = exchange
    this.#limit = limit
    this.#stall = stall
    this.#owner = owner
    // The sender of the body stops listening when it abandons it. A later error is ignored.
    this.on('error', ignore)
  }

  /** The whole body is received, read or unread. */
  get complete(): boolean {
    return this.#exchange.request.complete
  }

  /** Bytes that may still arrive. */
  get remaining(): number {
    return this.#limit - this.#exchange.bytesIn
  }

  /** The reader waits for bytes of the client. */
  get awaitsClient(): boolean {
    return !this.#ended && this.readableFlowing === true && this.readableLength === 0
  }

  override _read(): void {
    this.#timer ??= setTimeout(onTimeout, this.#stall, this)
    if (this.#started) this.#exchange.request.resume()
    else this.#start()
  }

  #start(): void {
    const { request, response, expectsContinue } = this.#exchange
    this.#started = true
    if (expectsContinue) {
      // Deferred until the body is read: a response before that may spare the client the body.
      this.#exchange.expectsContinue = false
      response.writeContinue()
    }
    request.deliver(this)
  }

  data(chunk: Buffer): void {
    this.#exchange.bytesIn += chunk.length
    passed(chunk.length)
    // The exchange is refused: the rest of the body is discarded.
    if (this.#exchange.refusal !== null) return void this.destroy()
    if (this.#exchange.bytesIn > this.#limit) return this.#owner.bodyRefused(bodyTooLarge)
    const accepts = this.#add(chunk)
    this.#reportHeld()
    if (accepts) this.#timer?.refresh()
    else this.#pauseClient()
  }

  /** @returns false on backpressure; `_read` follows */
  #add(chunk: Buffer): boolean {
    const isRead = this.readableFlowing === true && this.readableLength === 0 && this.#gathered === null
    if (isRead) return this.push(chunk)
    if (chunk.length < PART) this.#gather(chunk)
    else {
      this.#pushGathered()
      this.push(chunk)
    }
    if (this.readableLength + this.#gatheredBytes < this.readableHighWaterMark) return true
    // Only a push makes the stream ask for more.
    this.#pushGathered()
    return false
  }

  #gather(chunk: Buffer): void {
    this.#gathered ??= Buffer.allocUnsafeSlow(PART)
    const copied = chunk.copy(this.#gathered, this.#gatheredBytes)
    this.#gatheredBytes += copied
    if (this.#gatheredBytes === PART) this.#pushGathered()
    if (copied < chunk.length) this.#gather(chunk.subarray(copied))
  }

  #pushGathered(): void {
    const gathered = this.#gathered
    if (gathered === null) return
    const bytes = this.#gatheredBytes
    this.#gathered = null
    this.#gatheredBytes = 0
    this.push(bytes === PART ? gathered : gathered.subarray(0, bytes))
  }

  /** The reader takes some of the body, also while the stream flows. */
  override read(size?: number): unknown {
    if (this.readableLength === 0) this.#pushGathered()
    const chunk: unknown = super.read(size)
    this.#reportHeld()
    return chunk
  }

  #reportHeld(): void {
    const bytes = this.destroyed ? 0 : this.readableLength + (this.#gathered?.length ?? 0)
    this.#exchange.request.hold(this, bytes)
  }

  /** The reader is busy, so the client has no timeout. */
  #pauseClient(): void {
    this.#exchange.request.pause()
    this.#clearTimer()
    this.#owner.bodyPaused?.()
  }

  end(): void {
    this.#ended = true
    this.#clearTimer()
    this.#owner.bodyReceived?.()
    this.#pushGathered()
    this.push(null)
  }

  /** The client disconnected inside the body. */
  aborted(): void {
    this.destroy()
  }

  timedOut(): void {
    if (this.destroyed) return
    if (this.#owner.mayBeSilent?.() === true) this.#timer = setTimeout(onTimeout, this.#stall, this)
    else this.#owner.bodyRefused(bodyTooSlow)
  }

  /** Releases the request and leaves it flowing, so that the rest of the body cannot block the connection. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#clearTimer()
    this.#gathered = null
    this.#reportHeld()
    if (this.#started) this.#exchange.request.release(this)
    callback(error)
  }

  #clearTimer(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

function onTimeout(body: RequestBody): void {
  body.timedOut()
}
