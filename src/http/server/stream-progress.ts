/** The progress of a stream of HTTP/2. */

import type { Http2Stream } from '../wire/http2/stream.ts'

/** Detects streams whose client neither sends what is read nor reads what is sent. */
export class StreamProgress {
  readonly #stream: Http2Stream
  /** Bytes that were received and sent up to the last look. */
  #bytes = 0
  #stalledSince = Infinity

  constructor(stream: Http2Stream) {
    this.#stream = stream
  }

  /**
   * Called about once a second.
   *
   * @param waits the stream waits for its client
   * @param now monotonic ms
   * @returns the monotonic ms since which there is no progress; Infinity if the stream does not wait for its
   *   client
   */
  stalledSince(waits: boolean, now: number): number {
    const bytes = this.#stream.sentBytes + this.#stream.receivedBytes
    if (!waits) this.#stalledSince = Infinity
    else if (this.#stalledSince === Infinity || bytes !== this.#bytes) this.#stalledSince = now
    this.#bytes = bytes
    return this.#stalledSince
  }
}
