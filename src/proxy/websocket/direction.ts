/** One direction of a WebSocket. Bytes pass unchanged until that end, or the gateway, has sent a Close frame. */

import { Frames } from './websocket-frames.ts'

export class Direction {
  readonly frames: Frames
  readonly #send: (bytes: Buffer) => boolean
  /** The Close frame of the gateway, due at the next frame boundary. */
  #closeFrame: Buffer | null = null
  #closeSent = false

  /** @param masked frames of a client are masked @param send writes to the other end; false on backpressure */
  constructor(masked: boolean, send: (bytes: Buffer) => boolean) {
    this.frames = new Frames(masked)
    this.#send = send
  }

  /** No more bytes pass: a Close frame is the last one. */
  get closed(): boolean {
    return this.#closeSent || this.frames.closed
  }

  /** @returns false on backpressure */
  pass(chunk: Buffer): boolean {
    let at = 0
    let writable = true
    if (!this.closed) {
      at = this.frames.take(chunk, this.#closeFrame !== null)
      if (at > 0) writable = this.#send(at === chunk.length ? chunk : chunk.subarray(0, at))
      this.#sendClose()
    }
    // Frames that do not pass are still parsed, as the reply to the Close frame is among them.
    if (this.#closeSent) this.frames.take(chunk.subarray(at))
    return writable
  }

  /** Lets the current frame pass and then sends this one, unless a Close frame has passed before. */
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
