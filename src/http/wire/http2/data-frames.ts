/**
 * DATA frames of a peer (RFC 9113, section 6.1), and the window of the connection for them (section 6.9): the
 * content goes to its stream, and the room is returned.
 */

import type { FrameSession } from './control-frames.ts'
import type { FloodGuard } from './flood-guard.ts'
import { FLOW_CONTROL_ERROR, Http2Error, PROTOCOL_ERROR, STREAM_CLOSED } from './http2-errors.ts'
import { DEFAULT_WINDOW, END_STREAM, numberFrame, WINDOW_UPDATE } from './http2-frames.ts'
import type { Sender } from './sender.ts'
import type { Http2Stream } from './stream.ts'

export class DataFrames {
  readonly #session: FrameSession
  readonly #sender: Sender
  readonly #guard: FloodGuard
  /** The window of the connection, what the peer may still send, and what it has sent since a return. */
  readonly #size: number
  #window: number
  #received = 0
  /** The stream of the frame that is arriving; null if its content is dropped. */
  #stream: Http2Stream | null = null
  /** The bytes of content that have arrived of this frame, and its other bytes: at its end, the padding. */
  #bytes = 0
  #padding = 0

  /**
   * Announces the window.
   *
   * @param size bytes
   */
  constructor(size: number, session: FrameSession, sender: Sender, guard: FloodGuard) {
    this.#session = session
    this.#sender = sender
    this.#guard = guard
    this.#size = size
    this.#window = Math.max(size, DEFAULT_WINDOW)
    const room = this.#window - DEFAULT_WINDOW
    if (room > 0) sender.write(numberFrame(WINDOW_UPDATE, 0, room))
  }

  /**
   * Throws an Http2Error.
   *
   * @param length bytes of content and padding
   */
  started(id: number, length: number): void {
    const session = this.#session
    if (id === 0 || session.isIdle(id)) throw new Http2Error(PROTOCOL_ERROR, 'DATA of no open stream')
    this.#window -= length
    if (this.#window < 0)
      throw new Http2Error(FLOW_CONTROL_ERROR, 'more DATA than the window of the connection')
    this.#returnRoom(length)
    this.#stream = null
    this.#padding = length
    const stream = session.streams.get(id)
    if (stream === undefined) return this.#late(id, length)
    if (stream.remoteEnded) return session.streamError(id, STREAM_CLOSED)
    if (!stream.admits(length)) return session.streamError(id, FLOW_CONTROL_ERROR)
    this.#stream = stream
  }

  /** The rest of an upload that was refused is no fault: it costs its client more than this side. */
  #late(id: number, length: number): void {
    if (length === 0 || !this.#session.endedEarly.has(id)) this.#session.lateFrame(id)
  }

  /** Returns the room of the connection at once: no stream can keep it from the others. */
  #returnRoom(bytes: number): void {
    this.#received += bytes
    if (this.#received * 2 < this.#size) return
    this.#window += this.#received
    this.#sender.write(numberFrame(WINDOW_UPDATE, 0, this.#received))
    this.#received = 0
  }

  received(chunk: Buffer): void {
    this.#padding -= chunk.length
    this.#bytes += chunk.length
    if (this.#stream?.closed === false) this.#stream.received(chunk)
  }

  ended(flags: number): void {
    const stream = this.#stream
    this.#stream = null
    if (this.#bytes === 0 && (flags & END_STREAM) === 0) this.#guard.overhead()
    this.#bytes = 0
    if (stream?.closed === false && this.#padding > 0) stream.consumed(this.#padding)
    if (stream?.closed === false && (flags & END_STREAM) !== 0) stream.receivedEnd()
  }
}
