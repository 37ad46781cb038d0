/**
 * Reads the whole body of a message before it is forwarded. What has arrived counts as held by the
 * connection, so that slow messages of many clients cannot take the memory of others.
 */

import type { Exchange } from '../../http/server/exchange.ts'
import type { BodySink } from '../../http/server/client-request.ts'
import type { Refusal } from '../../model/errors.ts'
import { bodyTooLarge, bodyTooSlow } from '../../proxy/request-body.ts'
import type { BodyLimits } from '../whole-body.ts'

/** @returns never resolves if the client disconnects first */
export function readMessageBody(exchange: Exchange, limits: BodyLimits): Promise<Buffer | Refusal> {
  const { length } = exchange.request
  if (length !== Infinity && length > limits.bytes) return Promise.resolve(bodyTooLarge)
  if (length === 0) return Promise.resolve(Buffer.alloc(0))
  return new Promise((resolve) => new MessageBody(exchange, limits, resolve).start())
}

class MessageBody implements BodySink {
  readonly #exchange: Exchange
  readonly #limit: number
  /** Milliseconds for the whole body. */
  readonly #time: number
  readonly #resolve: (body: Buffer | Refusal) => void
  /** Null: the body is complete, or refused. */
  #timer: NodeJS.Timeout | null = null
  #isOver = false
  /** One growing buffer: a client may send single bytes. */
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0

  constructor(exchange: Exchange, { bytes, time }: BodyLimits, resolve: (body: Buffer | Refusal) => void) {
    this.#exchange = exchange
    this.#limit = bytes
    this.#resolve = resolve
    this.#time = time
  }

  start(): void {
    const { request, response, expectsContinue } = this.#exchange
    if (expectsContinue) {
      this.#exchange.expectsContinue = false
      response.writeContinue()
    }
    request.deliver(this)
    // Most messages have arrived with their head.
    if (!this.#isOver) this.#timer = setTimeout(() => this.#refuse(bodyTooSlow), this.#time)
  }

  data(chunk: Buffer): void {
    const length = this.#length + chunk.length
    this.#exchange.bytesIn = length
    if (length > this.#limit) return this.#refuse(bodyTooLarge)
    if (length > this.#bytes.length) {
      const most = Math.min(this.#limit, this.#exchange.request.length)
      const larger = Buffer.alloc(Math.max(length, Math.min(most, Math.max(2 * this.#bytes.length, 1024))))
      this.#bytes.copy(larger)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#length)
    this.#length = length
    this.#exchange.request.hold(this, this.#bytes.length)
  }

  end(): void {
    this.#stop()
    const bytes = this.#whole()
    this.#exchange.request.hold(this, bytes.length)
    this.#resolve(bytes)
  }

  /** Without the rest of the buffer, which is up to as large: the body may wait for long, and counts alone. */
  #whole(): Buffer {
    if (this.#length === this.#bytes.length) return this.#bytes
    const whole = Buffer.allocUnsafeSlow(this.#length)
    this.#bytes.copy(whole)
    return whole
  }

  aborted(): void {
    this.#stop()
  }

  #stop(): void {
    this.#isOver = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = null
  }

  /** The rest of the body is discarded. */
  #refuse(refusal: Refusal): void {
    this.#stop()
    this.#exchange.request.release(this)
    this.#resolve(refusal)
  }
}
