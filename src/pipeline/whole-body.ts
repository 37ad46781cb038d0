/** Reads the whole body of a request to a built-in endpoint. */

import type { Refusal } from '../model/errors.ts'
import type { Exchange } from '../http/server/exchange.ts'
import { type BodyOwner, bodyTooLarge, bodyTooSlow, RequestBody } from '../proxy/request-body.ts'

export interface BodyLimits {
  readonly bytes: number
  /** Milliseconds for the whole body: bodies of built-in endpoints are small. */
  readonly time: number
}

/** Null: the request has no body. Never resolves when the client disconnects first. */
export function readBody(exchange: Exchange, limits: BodyLimits): Promise<Buffer | null | Refusal> {
  const { length } = exchange.request
  if (length === 0) return Promise.resolve(null)
  if (length !== Infinity && length > limits.bytes) return Promise.resolve(bodyTooLarge)
  return new Promise((resolve) => new Collector(exchange, limits, resolve))
}

class Collector implements BodyOwner {
  readonly #body: RequestBody
  readonly #resolve: (result: Buffer | Refusal) => void
  /** One growing buffer: a client may send single bytes. */
  #bytes: Buffer = Buffer.alloc(0)
  #length = 0
  readonly #timer: NodeJS.Timeout

  constructor(exchange: Exchange, limits: BodyLimits, resolve: (result: Buffer | Refusal) => void) {
    this.#resolve = resolve
    this.#body = new RequestBody(exchange, limits.bytes, limits.time, this)
    this.#body.on('data', (chunk: Buffer) => this.#add(chunk))
    this.#body.on('end', () => resolve(this.#bytes.subarray(0, this.#length)))
    this.#body.once('close', () => clearTimeout(this.#timer))
    this.#timer = setTimeout(() => this.bodyRefused(bodyTooSlow), limits.time)
  }

  #add(chunk: Buffer): void {
    const length = this.#length + chunk.length
    if (length > this.#bytes.length) {
      const larger = Buffer.alloc(Math.max(length, 2 * this.#bytes.length, 1024))
      this.#bytes.copy(larger)
      this.#bytes = larger
    }
    chunk.copy(this.#bytes, this.#length)
    this.#length = length
  }

  bodyRefused(refusal: Refusal): void {
    this.#body.destroy()
    this.#resolve(refusal)
  }
}
