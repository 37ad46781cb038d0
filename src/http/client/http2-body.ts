/** Writes a request body to a stream of HTTP/2, at the pace of its windows. */

import type { Readable } from 'node:stream'
import type { Http2Stream } from '../wire/http2/stream.ts'
import { ProtocolError } from './upstream-request.ts'
import type { BodyWriteListener } from './request-writer.ts'

export class Http2Body {
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
