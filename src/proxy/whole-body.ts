/** The whole body of a request to a built-in endpoint. Used by `json-body.ts` and `open.ts`. */

import type { Refusal } from '../errors.ts'
import type { Exchange } from '../exchange.ts'
import { announcedLength, type BodyOwner, bodyTooLarge, bodyTooSlow, RequestBody } from './request-body.ts'

export interface BodyLimits {
  readonly bytes: number
  /** Milliseconds for the whole of it: what is read here is small. */
  readonly time: number
}

/** Null: it has none. Never resolves when the client goes away first. */
export function readBody(exchange: Exchange, limits: BodyLimits): Promise<Buffer | null | Refusal> {
  const length = announcedLength(exchange.request.rawHeaders)
  if (length === 0) return Promise.resolve(null)
  if (length !== Infinity && length > limits.bytes) return Promise.resolve(bodyTooLarge)
  return new Promise((resolve) => new Collector(exchange, limits, resolve))
}

class Collector implements BodyOwner {
  readonly #body: RequestBody
  readonly #resolve: (result: Buffer | Refusal) => void
  readonly #chunks: Buffer[] = []
  readonly #timer: NodeJS.Timeout

  constructor(exchange: Exchange, limits: BodyLimits, resolve: (result: Buffer | Refusal) => void) {
    this.#resolve = resolve
    this.#body = new RequestBody(exchange, limits.bytes, limits.time, this)
    this.#body.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
    this.#body.on('end', () => resolve(Buffer.concat(this.#chunks)))
    this.#body.once('close', () => clearTimeout(this.#timer))
    this.#timer = setTimeout(() => this.bodyRefused(bodyTooSlow), limits.time)
  }

  bodyRefused(refusal: Refusal): void {
    this.#body.destroy()
    this.#resolve(refusal)
  }
}
