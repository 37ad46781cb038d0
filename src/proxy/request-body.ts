/**
 * The client's body on its way to the upstream or a local handler. It stands between the two, so that whoever can't
 * send a body on may destroy it, and not the client's connection with it: the answer still has to go there. Counts,
 * limits and times what comes.
 */

import { Readable } from 'node:stream'
import { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import type { BodySink } from '../http/server/client-request.ts'
import { passed } from './buffer-garbage.ts'

/** Who is told when the client's body can't be taken. */
export interface BodyOwner {
  bodyRefused(refusal: Refusal): void
  /** All of it is here. */
  bodyReceived?(): void
  /** No more of it is taken before some of it has been read. */
  bodyPaused?(): void
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

  /**
   * @param limit bytes; one more is refused
   * @param stall milliseconds the client may stay silent while its body is waited for
   */
  constructor(exchange: Exchange, limit: number, stall: number, owner: BodyOwner) {
    super()
    this.#exchange = exchange
    this.#limit = limit
    this.#stall = stall
    this.#owner = owner
    // Who sends it on listens, but not after having given it up; a late error is nobody's then.
    this.on('error', ignore)
  }

  /** All of it has come, be it read or not. */
  get complete(): boolean {
    return this.#exchange.request.complete
  }

  /** Bytes that may still come. */
  get remaining(): number {
    return this.#limit - this.#exchange.bytesIn
  }

  /** It is the client whose bytes are missing: the reader would take them. */
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
      // Not before somebody really reads: an answer without the body may still save the client from sending it.
      this.#exchange.expectsContinue = false
      response.writeContinue()
    }
    request.deliver(this)
  }

  data(chunk: Buffer): void {
    this.#exchange.bytesIn += chunk.length
    passed(chunk.length)
    // It was answered no in the midst of it: what still comes goes nowhere.
    if (this.#exchange.refusal !== null) return void this.destroy()
    if (this.#exchange.bytesIn > this.#limit) return this.#owner.bodyRefused(bodyTooLarge)
    if (this.push(chunk)) this.#timer?.refresh()
    else this.#pauseClient()
  }

  /** The reader is busy: the client waits, and may. */
  #pauseClient(): void {
    this.#exchange.request.pause()
    this.#clearTimer()
    this.#owner.bodyPaused?.()
  }

  end(): void {
    this.#ended = true
    this.#clearTimer()
    this.#owner.bodyReceived?.()
    this.push(null)
  }

  /** The client went away in the midst of it. */
  aborted(): void {
    this.destroy()
  }

  timedOut(): void {
    if (!this.destroyed) this.#owner.bodyRefused(bodyTooSlow)
  }

  /** Lets go of the client's request and leaves it flowing, so that what is left of it can't block the connection. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#clearTimer()
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

function ignore(): void {}
