/** A stream of HTTP/2 whose request is refused before it is one. */

import { INTERNAL_ERROR, NO_ERROR } from '../wire/http2/http2-errors.ts'
import type { Http2Stream, StreamReceiver } from '../wire/http2/stream.ts'
import { StreamProgress } from './stream-progress.ts'

/** A stream without a readable request. It ends with its problem document; what else arrives is dropped. */
export class RefusedStream implements StreamReceiver {
  readonly id: number
  readonly #stream: Http2Stream
  readonly #progress: StreamProgress

  constructor(stream: Http2Stream) {
    this.id = stream.id
    this.#stream = stream
    this.#progress = new StreamProgress(stream)
  }

  /** The client need not send the rest of its request (RFC 9113, section 8.1). */
  flushed(): void {
    this.#stream.reset(NO_ERROR)
  }

  /**
   * Gives the stream up where its client has not read the response for this long.
   *
   * @param now monotonic ms
   */
  closeStalled(now: number, forMs: number): void {
    const since = this.#progress.stalledSince(this.#stream.isWaiting, now)
    if (now - since > forMs) this.#stream.reset(INTERNAL_ERROR)
  }

  headers(): void {}
  data(): void {}
  ended(): void {}
  drained(): void {}
  failed(): void {}
}
