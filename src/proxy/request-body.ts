/**
 * The client's body on its way to the upstream or a local handler. It stands between the two, so that whoever can't
 * send a body on may destroy it, and not the client's connection with it: the answer still has to go there. Counts,
 * limits and times what comes. Used by `forward.ts` and `json-body.ts`.
 */

import { Readable } from 'node:stream'
import { Refusal } from '../errors.ts'
import type { Exchange } from '../exchange.ts'

/** Who is told when the client's body can't be taken. */
export interface BodyOwner {
  bodyRefused(refusal: Refusal): void
  /** All of it is here. */
  bodyCame?(): void
}

export const bodyTooLarge: Refusal = new Refusal(
  'body_too_large',
  'The body is larger than this route takes.',
)
export const bodyTooSlow: Refusal = new Refusal('request_timeout', 'The body did not arrive in time.')

/**
 * Bytes of body that the request announces: 0 for none, Infinity where chunks don't tell (RFC 9112, section 6).
 * Two framings at once were refused before.
 */
export function announcedLength(rawHeaders: readonly string[]): number {
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    // Only these lengths can be a name looked for; the others are passed over without a copy.
    if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') return Infinity
    if (name.length === 14 && name.toLowerCase() === 'content-length') return Number(rawHeaders[i + 1])
  }
  return 0
}

export class RequestBody extends Readable {
  readonly #exchange: Exchange
  readonly #limit: number
  readonly #stall: number
  readonly #owner: BodyOwner
  #timer: NodeJS.Timeout | null = null
  #listening = false
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

  /** All of it has come. */
  get complete(): boolean {
    return this.#ended
  }

  /** Bytes that may still come. */
  get room(): number {
    return this.#limit - this.#exchange.bytesIn
  }

  /** It is the client whose bytes are missing: the reader would take them. */
  get awaitsClient(): boolean {
    return !this.#ended && this.readableFlowing === true && this.readableLength === 0
  }

  override _read(): void {
    const { request, response, awaited } = this.#exchange
    // Behind other requests: before its turn has come, Node would put `100 Continue` behind the head of the answer.
    if (awaited && response.socket === null) return void response.once('socket', this.#onTurn)
    if (!this.#listening) this.#listen()
    this.#timer ??= setTimeout(onSilence, this.#stall, this)
    request.resume()
  }

  #listen(): void {
    const { request, response } = this.#exchange
    this.#listening = true
    request.on('data', this.#onData).on('end', this.#onEnd).on('close', this.#onClose)
    if (!this.#exchange.awaited) return
    // Not before somebody really reads: an answer without the body may still save the client from sending it.
    this.#exchange.awaited = false
    if (!response.headersSent) response.writeContinue()
  }

  readonly #onTurn = (): void => {
    if (!this.destroyed) this._read()
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#exchange.bytesIn += chunk.length
    // It was answered no in the midst of it: what still comes goes nowhere.
    if (this.#exchange.refusal !== null) return void this.destroy()
    if (this.#exchange.bytesIn > this.#limit) return this.#owner.bodyRefused(bodyTooLarge)
    if (this.push(chunk)) this.#timer?.refresh()
    else this.#hold()
  }

  /** The reader is busy: the client waits, and may. */
  #hold(): void {
    this.#exchange.request.pause()
    this.#clear()
  }

  readonly #onEnd = (): void => {
    this.#ended = true
    this.#clear()
    this.#owner.bodyCame?.()
    this.push(null)
  }

  /** The client went away in the midst of it. */
  readonly #onClose = (): void => {
    if (!this.#ended) this.destroy()
  }

  silent(): void {
    if (!this.destroyed) this.#owner.bodyRefused(bodyTooSlow)
  }

  /** Lets go of the client's request and leaves it flowing, so that what is left of it can't block the connection. */
  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    const { request } = this.#exchange
    this.#clear()
    if (this.#listening) {
      request.off('data', this.#onData).off('end', this.#onEnd).off('close', this.#onClose)
      request.resume()
    }
    callback(error)
  }

  #clear(): void {
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }
}

function onSilence(body: RequestBody): void {
  body.silent()
}

function ignore(): void {}
