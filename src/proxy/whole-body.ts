/** The whole body of a request to a built-in endpoint. Used by `json-body.ts` and `open.ts`. */

import type { Refusal } from '../errors.ts'
import type { Exchange } from '../exchange.ts'
import { announcedLength, type BodyOwner, bodyTooLarge, bodyTooSlow, RequestBody } from './request-body.ts'

/** Milliseconds that the client may stay silent in the midst of it. */
const STALL = 30_000
/** Milliseconds for the whole of it. */
const WHOLE = 60_000

/** Null: it has none. Never resolves when the client goes away first. @param limit bytes */
export function readBody(exchange: Exchange, limit: number): Promise<Buffer | null | Refusal> {
  const length = announcedLength(exchange.request.rawHeaders)
  if (length === 0) return Promise.resolve(null)
  if (length !== Infinity && length > limit) return Promise.resolve(bodyTooLarge)
  return new Promise((resolve) => new Collector(exchange, limit, resolve))
}

class Collector implements BodyOwner {
  readonly #body: RequestBody
  readonly #resolve: (result: Buffer | Refusal) => void
  readonly #chunks: Buffer[] = []
  readonly #timer: NodeJS.Timeout

  constructor(exchange: Exchange, limit: number, resolve: (result: Buffer | Refusal) => void) {
    this.#resolve = resolve
    this.#body = new RequestBody(exchange, limit, STALL, this)
    this.#body.on('data', (chunk: Buffer) => this.#chunks.push(chunk))
    this.#body.on('end', () => resolve(Buffer.concat(this.#chunks)))
    this.#body.once('close', () => clearTimeout(this.#timer))
    this.#timer = setTimeout(() => this.bodyRefused(bodyTooSlow), WHOLE)
  }

  bodyRefused(refusal: Refusal): void {
    this.#body.destroy()
    this.#resolve(refusal)
  }
}
