/** Discards the rest of a request body after the response. */

import type { BodySink, ClientRequest } from './client-request.ts'
import type { ClientResponse, ResponseListener } from './client-response.ts'

/** Milliseconds for the rest of a body to arrive after the response is sent. */
const DISCARD_TIME = 5_000

/**
 * Reads and discards the rest of a body. Exactly the body is consumed, so no byte of it becomes the next
 * request. A client that is still sending can read its response: an immediate close would reset the
 * connection (RFC 9112, section 9.6). If the rest does not arrive in time, a lingering close follows
 * (`lingering-close.ts`).
 *
 * @param allowed bytes that may still arrive
 */
export function discardBody(request: ClientRequest, response: ClientResponse, allowed: number): void {
  if (!request.complete && !response.destroyed) request.deliver(new BodyDiscard(request, response, allowed))
}

class BodyDiscard implements BodySink, ResponseListener {
  readonly #request: ClientRequest
  readonly #response: ClientResponse
  #remaining: number
  #timer: NodeJS.Timeout | null = null
  #done = false

  constructor(request: ClientRequest, response: ClientResponse, allowed: number) {
    this.#request = request
    this.#response = response
    this.#remaining = allowed
    if (response.writableFinished) this.#linger()
    else response.listen(this)
  }

  data(chunk: Buffer): void {
    this.#remaining -= chunk.length
    if (this.#remaining >= 0) return
    // Reading stops until the response is sent; then the connection is closed.
    if (!this.#response.writableFinished) this.#request.pause()
    this.#giveUp()
  }

  end(): void {
    this.#done = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  aborted(): void {
    this.end()
  }

  #giveUp(): void {
    this.end()
    this.#request.abandon()
  }

  closed(): void {
    if (this.#response.writableFinished) this.#linger()
  }

  #linger(): void {
    if (!this.#done) this.#timer = setTimeout(() => this.#giveUp(), DISCARD_TIME)
  }
}
