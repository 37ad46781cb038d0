/**
 * One direction of a WebSocket: what one end says, on its way to the other. Bytes pass as they came, until one of the
 * ends, or the gateway itself, has said Close.
 */

import { Frames } from './frames.ts'

export class Direction {
  readonly frames: Frames
  readonly #send: (bytes: Buffer) => boolean
  /** What the gateway is to say at the next boundary. */
  #closeFrame: Buffer | null = null
  #closeSent = false

  /**
   * @param masked its frames are, as a client sends them
   * @param send towards the other end; false when that is behind
   */
  constructor(masked: boolean, send: (bytes: Buffer) => boolean) {
    this.frames = new Frames(masked)
    this.#send = send
  }

  /** Nothing more will be sent this way: Close is the last that anybody says. */
  get closed(): boolean {
    return this.#closeSent || this.frames.closed
  }

  /** @returns false when the other end is behind */
  pass(chunk: Buffer): boolean {
    let at = 0
    let writable = true
    if (!this.closed) {
      at = this.frames.take(chunk, this.#closeFrame !== null)
      if (at > 0) writable = this.#send(at === chunk.length ? chunk : chunk.subarray(0, at))
      this.#sendClose()
    }
    // What is not passed on any more is heard to its end: the answer to Close is in it.
    if (this.#closeSent) this.frames.take(chunk.subarray(at))
    return writable
  }

  /** Lets the frame that is under way pass, and ends with this one, where no Close has passed before. */
  end(closeFrame: Buffer): void {
    this.#closeFrame ??= closeFrame
    this.#sendClose()
  }

  #sendClose(): void {
    if (this.#closeFrame === null || this.closed || !this.frames.boundary) return
    this.#closeSent = true
    this.#send(this.#closeFrame)
  }
}
