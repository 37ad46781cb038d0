/** What is left of a request after its answer. */

import type { BodySink, ClientRequest } from '../http/server/client-request.ts'
import type { ClientResponse, ResponseListener } from '../http/server/client-response.ts'

/** Milliseconds that the rest of a body may take to arrive once the answer is out. */
const DISCARD_TIME = 5_000

/**
 * Reads the rest of a body and throws it away, so that exactly the body, and no byte of it as a next request, is
 * consumed; and so that a client that still sends can read its answer: closing at once would reset the connection
 * under it (RFC 9112, section 9.6). Where it isn't done in time, the connection is to be closed, as `http/server/lingering-close.ts`
 * does it.
 *
 * @param allowed bytes that may still come
 */
export function discardBody(request: ClientRequest, response: ClientResponse, allowed: number): void {
  if (!request.complete && !response.destroyed) request.deliver(new BodyDiscard(request, response, allowed))
}

class BodyDiscard implements BodySink, ResponseListener {
  readonly #request: ClientRequest
  readonly #response: ClientResponse
  #left: number
  #timer: NodeJS.Timeout | null = null
  #done = false

  constructor(request: ClientRequest, response: ClientResponse, allowed: number) {
    this.#request = request
    this.#response = response
    this.#left = allowed
    if (response.writableFinished) this.#linger()
    else response.listen(this)
  }

  data(chunk: Buffer): void {
    this.#left -= chunk.length
    if (this.#left >= 0) return
    // No more of it before the answer is out: then the connection ends.
    if (!this.#response.writableFinished) this.#request.pause()
    this.giveUp()
  }

  end(): void {
    this.#done = true
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  aborted(): void {
    this.end()
  }

  giveUp(): void {
    this.end()
    this.#request.abandon()
  }

  closed(): void {
    if (this.#response.writableFinished) this.#linger()
  }

  #linger(): void {
    if (!this.#done) this.#timer = setTimeout(onTime, DISCARD_TIME, this)
  }
}

function onTime(body: BodyDiscard): void {
  body.giveUp()
}
