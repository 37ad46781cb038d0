/**
 * Splits received bytes into frames (RFC 9113, section 4.1). Payloads of DATA pass on as they arrive; any
 * other payload is collected first.
 */

import { performance } from 'node:perf_hooks'
import { FRAME_SIZE_ERROR, Http2Error, PROTOCOL_ERROR } from './http2-errors.ts'
import { DATA, FRAME_HEADER, MAX_PAYLOAD, PADDED, WITH_PRIORITY } from './http2-frames.ts'

export interface FrameSink {
  /** A frame begins. Throws to refuse it. */
  frameStarted(type: number, flags: number, stream: number, length: number): void
  /**
   * A whole frame other than DATA.
   *
   * @param payload may be kept
   */
  frame(type: number, flags: number, stream: number, payload: Buffer): void
  /** A part of the payload of DATA, without padding. */
  data(stream: number, chunk: Buffer): void
  /** The DATA frame is complete. */
  dataEnded(flags: number, stream: number): void
}

const NOTHING = Buffer.alloc(0)

export class FrameReader {
  readonly #sink: FrameSink
  readonly #header = Buffer.alloc(FRAME_HEADER)
  #headerBytes = 0
  #type = 0
  #flags = 0
  #stream = 0
  /** The payload of DATA that has not arrived: content, then padding, whose length may be due first. */
  #inData = false
  #paddingDue = false
  #content = 0
  #padding = 0
  /** Payload of another frame, collected so far. */
  #payload: Buffer | null = null
  #payloadBytes = 0
  /** Monotonic ms of the first byte of a frame that is incomplete, other than DATA. */
  #startedAt = 0
  #stopped = false
  #paused = false

  constructor(sink: FrameSink) {
    this.#sink = sink
  }

  /** Nothing of a next frame has arrived. */
  get atStart(): boolean {
    return this.#headerBytes === 0 && !this.#inData && this.#payload === null
  }

  /**
   * The monotonic ms at which an incomplete frame began; Infinity if there is none. DATA has the time of its
   * body instead.
   */
  get startedAt(): number {
    return this.#headerBytes > 0 || this.#payload !== null ? this.#startedAt : Infinity
  }

  /** Bytes that are allocated for an incomplete frame. */
  get heldBytes(): number {
    return this.#payload?.length ?? 0
  }

  /** Ignores all further bytes. */
  stop(): void {
    this.#stopped = true
    this.#payload = null
    this.#headerBytes = 0
  }

  /** Ends the `read` call in progress after this frame. */
  pause(): void {
    this.#paused = true
  }

  /**
   * Throws an Http2Error.
   *
   * @returns the position after the last byte that was read
   */
  read(bytes: Buffer): number {
    let at = 0
    this.#paused = false
    while (at < bytes.length && !this.#stopped && !this.#paused) {
      if (this.#inData) at = this.#readData(bytes, at)
      else if (this.#payload !== null) at = this.#readPayload(bytes, at, this.#payload)
      else at = this.#readHeader(bytes, at)
    }
    return at
  }

  #readHeader(bytes: Buffer, at: number): number {
    if (this.#headerBytes === 0 && bytes.length - at >= FRAME_HEADER)
      return this.#begin(bytes, at, bytes, at + FRAME_HEADER)
    if (this.#headerBytes === 0) this.#startedAt = performance.now()
    const end = Math.min(at + FRAME_HEADER - this.#headerBytes, bytes.length)
    bytes.copy(this.#header, this.#headerBytes, at, end)
    this.#headerBytes += end - at
    if (this.#headerBytes < FRAME_HEADER) return end
    this.#headerBytes = 0
    return this.#begin(this.#header, 0, bytes, end)
  }

  /**
   * @param from the position of the payload in `bytes`
   * @returns the position after what was read
   */
  #begin(header: Buffer, at: number, bytes: Buffer, from: number): number {
    const length = header.readUIntBE(at, 3)
    const type = header[at + 3] ?? 0
    const flags = header[at + 4] ?? 0
    // The reserved bit is ignored (RFC 9113, section 4.1).
    const stream = header.readUInt32BE(at + 5) & 0x7fffffff
    if (length > MAX_PAYLOAD) throw new Http2Error(FRAME_SIZE_ERROR, 'a frame is longer than the limit')
    this.#sink.frameStarted(type, flags, stream, length)
    this.#type = type
    this.#flags = flags
    this.#stream = stream
    if (type === DATA) return this.#beginData(length, from)
    if (bytes.length - from >= length) {
      this.#sink.frame(type, flags, stream, bytes.subarray(from, from + length))
      return from + length
    }
    if (header !== this.#header) this.#startedAt = performance.now()
    this.#payload = Buffer.allocUnsafe(length)
    this.#payloadBytes = 0
    return from
  }

  #beginData(length: number, from: number): number {
    this.#inData = true
    this.#content = length
    this.#padding = 0
    this.#paddingDue = (this.#flags & PADDED) !== 0
    if (this.#paddingDue && length === 0) throw tooMuchPadding()
    if (length === 0) this.#endData()
    return from
  }

  #readData(bytes: Buffer, from: number): number {
    let at = from
    if (this.#paddingDue) {
      this.#paddingDue = false
      this.#padding = bytes[at++] ?? 0
      this.#content -= 1 + this.#padding
      if (this.#content < 0) throw tooMuchPadding()
    }
    if (this.#content > 0) {
      const end = Math.min(at + this.#content, bytes.length)
      if (end > at) {
        this.#content -= end - at
        this.#sink.data(this.#stream, bytes.subarray(at, end))
        at = end
      }
    }
    if (this.#content === 0) {
      const skipped = Math.min(this.#padding, bytes.length - at)
      this.#padding -= skipped
      at += skipped
      if (this.#padding === 0) this.#endData()
    }
    return at
  }

  #endData(): void {
    this.#inData = false
    this.#sink.dataEnded(this.#flags, this.#stream)
  }

  #readPayload(bytes: Buffer, at: number, payload: Buffer): number {
    const end = Math.min(at + payload.length - this.#payloadBytes, bytes.length)
    bytes.copy(payload, this.#payloadBytes, at, end)
    this.#payloadBytes += end - at
    if (this.#payloadBytes === payload.length) {
      this.#payload = null
      this.#sink.frame(this.#type, this.#flags, this.#stream, payload)
    }
    return end
  }
}

function tooMuchPadding(): Http2Error {
  return new Http2Error(PROTOCOL_ERROR, 'the padding of a DATA frame is longer than the frame')
}

/**
 * The content of a HEADERS frame without padding and priority (RFC 9113, section 6.2).
 *
 * @returns the field block fragment, and the stream it claims to depend on (0: none)
 */
export function headersContent(flags: number, payload: Buffer): { block: Buffer; dependsOn: number } {
  let at = 0
  let end = payload.length
  if ((flags & PADDED) !== 0) {
    end -= payload[0] ?? 0
    at = 1
  }
  let dependsOn = 0
  if ((flags & WITH_PRIORITY) !== 0) {
    if (payload.length < at + 5) throw new Http2Error(FRAME_SIZE_ERROR, 'a HEADERS frame is too short')
    dependsOn = payload.readUInt32BE(at) & 0x7fffffff
    at += 5
  }
  if (end < at)
    throw new Http2Error(PROTOCOL_ERROR, 'the padding of a HEADERS frame is longer than the frame')
  return { block: end === at ? NOTHING : payload.subarray(at, end), dependsOn }
}
