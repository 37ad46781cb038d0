/**
 * Collects a field block from HEADERS and CONTINUATION (RFC 9113, section 4.3). No other frame may come in between, so an
 * unfinished block holds up the connection.
 */

import { performance } from 'node:perf_hooks'
import { ENHANCE_YOUR_CALM, Http2Error } from './http2-errors.ts'

/** CONTINUATION frames of a block: with full frames, more than any accepted header section needs (CVE-2024-27983). */
const MAX_CONTINUATIONS = 16

export class HeaderBlock {
  readonly stream: number
  readonly endStream: boolean
  /** It claims to depend on its own stream. */
  readonly isFaulty: boolean
  readonly #limit: number
  readonly #pieces: Buffer[] = []
  #bytes = 0
  /** Monotonic ms of its HEADERS frame. */
  readonly startedAt: number = performance.now()

  /** @param limit bytes in all: decoding goes on beyond the limit of a list, to keep the dynamic table in step */
  constructor(stream: number, endStream: boolean, isFaulty: boolean, limit: number) {
    this.stream = stream
    this.endStream = endStream
    this.isFaulty = isFaulty
    this.#limit = limit
  }

  /** Throws an Http2Error. @param fragment it is copied unless it is `last`, as it shares memory with the read */
  add(fragment: Buffer, last: boolean): void {
    this.#bytes += fragment.length
    if (this.#bytes > this.#limit || this.#pieces.length > MAX_CONTINUATIONS)
      throw new Http2Error(ENHANCE_YOUR_CALM, 'a field block is longer than the limit')
    this.#pieces.push(last ? fragment : Buffer.from(fragment))
  }

  get bytes(): number {
    return this.#bytes
  }

  /** The whole block. */
  get content(): Buffer {
    const [only] = this.#pieces
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.#bytes)
  }
}
