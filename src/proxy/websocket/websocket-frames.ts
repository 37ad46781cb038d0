/** Frames of a WebSocket (RFC 6455, section 5): the boundaries of those that pass, and Close frames. */

import { randomBytes } from 'node:crypto'

const FIN = 0x80
const OPCODE = 0x0f
const CLOSE = 0x8
const MASK = 0x80
const LENGTH = 0x7f
const LENGTH_16 = 126
const LENGTH_64 = 127
/** The payload limit of a control frame in bytes. */
const MAX_CONTROL = 125

/**
 * Finds the boundaries in one direction. It follows the passing bytes in constant memory, without unmasking
 * or copying.
 *
 * It refuses what makes boundaries ambiguous: a wrong mask bit, a length that is not minimal or above 2^53, a
 * control frame that is fragmented or long. It does not interpret messages.
 */
export class Frames {
  /** The position is between two frames. */
  boundary = true
  /** A Close frame has passed: nothing may follow. */
  closed = false
  /** The status of that frame; null if it had none. */
  closeCode: number | null = null
  /** Describes the invalid frame. Nothing passes after it. */
  fault: string | null = null
  readonly #masked: boolean
  /** Header bytes of the current frame that have passed. */
  #headerRead = 0
  #opcode = 0
  #short = 0
  /** The positions of the end of the length and of the header. */
  #lengthEnd = 2
  #headerEnd = 2
  #length = 0
  /** Payload bytes of the current frame that have not passed yet. */
  #remaining = 0
  /** The first two bytes of the mask, and of the payload of a Close frame. */
  #mask = 0
  #status = 0
  #statusBytes = 0

  /** @param masked true for frames of a client, false for frames of a server */
  constructor(masked: boolean) {
    this.#masked = masked
  }

  /**
   * The number of bytes that may pass: all before the end of a Close frame, or before an invalid frame.
   *
   * @param untilBoundary stops at the end of the current frame
   */
  take(chunk: Buffer, untilBoundary = false): number {
    let at = 0
    let frame = 0
    while (at < chunk.length) {
      if (this.closed || this.fault !== null || (untilBoundary && this.boundary)) return at
      if (this.boundary) frame = at
      if (this.#remaining > 0) at += this.#skip(chunk, at)
      else this.#header(chunk[at++] ?? 0)
      if (this.fault !== null) return this.#cutBefore(frame, at)
    }
    return at
  }

  /** The part of an invalid header in this chunk does not pass. */
  #cutBefore(frame: number, at: number): number {
    this.boundary = this.#headerRead === at - frame
    return frame
  }

  #header(byte: number): void {
    this.boundary = false
    this.#headerRead++
    if (this.#headerRead === 1) this.#first(byte)
    else if (this.#headerRead === 2) this.#second(byte)
    else if (this.#headerRead <= this.#lengthEnd) this.#length = this.#length * 256 + byte
    else if (this.#headerRead <= this.#lengthEnd + 2) this.#mask = (this.#mask << 8) | byte
    if (this.#headerRead === this.#lengthEnd && this.#headerRead > 1) this.#checkLength()
    if (this.#headerRead === this.#headerEnd && this.#headerRead > 1) this.#begin()
  }

  #first(byte: number): void {
    this.#opcode = byte & OPCODE
    this.#lengthEnd = 2
    this.#headerEnd = 2
    this.#mask = 0
    if (this.#isControl && (byte & FIN) === 0) this.fault = 'a fragmented control frame'
  }

  #second(byte: number): void {
    this.#short = byte & LENGTH
    if (((byte & MASK) !== 0) !== this.#masked)
      this.fault = this.#masked ? 'an unmasked frame' : 'a masked frame'
    if (this.#isControl && this.#short > MAX_CONTROL) this.fault = 'a control frame over 125 bytes'
    this.#lengthEnd = this.#short === LENGTH_64 ? 10 : this.#short === LENGTH_16 ? 4 : 2
    this.#headerEnd = this.#lengthEnd + (this.#masked ? 4 : 0)
    this.#length = this.#lengthEnd === 2 ? this.#short : 0
  }

  #checkLength(): void {
    const shortest = this.#lengthEnd === 10 ? 0x10000 : this.#lengthEnd === 4 ? LENGTH_16 : 0
    if (this.#length < shortest) this.fault = 'a length that is not minimal'
    if (this.#length > Number.MAX_SAFE_INTEGER) this.fault = 'a length above 2^53'
    if (this.#opcode === CLOSE && this.#length === 1) this.fault = 'a status code of one byte'
  }

  /** The header is complete. */
  #begin(): void {
    if (this.fault !== null) return
    this.#headerRead = 0
    this.#remaining = this.#length
    this.#statusBytes = 0
    this.#status = 0
    if (this.#remaining === 0) this.#end()
  }

  /** @returns the number of skipped payload bytes */
  #skip(chunk: Buffer, at: number): number {
    const some = Math.min(this.#remaining, chunk.length - at)
    if (this.#opcode === CLOSE) this.#readStatus(chunk.subarray(at, at + some))
    this.#remaining -= some
    if (this.#remaining === 0) this.#end()
    return some
  }

  #readStatus(payload: Buffer): void {
    for (const byte of payload.subarray(0, 2 - this.#statusBytes)) {
      this.#status = (this.#status << 8) | byte
      this.#statusBytes++
    }
  }

  #end(): void {
    this.boundary = true
    if (this.#opcode !== CLOSE) return
    this.closed = true
    if (this.#statusBytes === 2) this.closeCode = this.#status ^ this.#mask
  }

  get #isControl(): boolean {
    return this.#opcode >= CLOSE
  }
}

// Statuses of Close frames (RFC 6455, section 7.4).

/** The gateway or the upstream goes away: a client may reconnect. */
export const GOING_AWAY = 1001
/** An invalid frame. */
export const PROTOCOL_ERROR = 1002
/** Never sent: reported for a Close frame without a status, and for an end without a Close frame. */
export const NO_STATUS = 1005
export const NO_CLOSE = 1006
/** The caller has lost the permission. */
export const POLICY_VIOLATION = 1008

/**
 * A Close frame (RFC 6455, section 5.5.1).
 *
 * @param reason a short ASCII text
 * @param masked required from a client, forbidden to a server
 */
export function closeFrame(code: number, reason: string, masked: boolean): Buffer {
  const payload = Buffer.alloc(2 + reason.length)
  payload.writeUInt16BE(code)
  payload.write(reason, 2, 'latin1')
  if (!masked) return Buffer.concat([Buffer.from([0x88, payload.length]), payload])
  const mask = randomBytes(4)
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0)
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length]), mask, payload])
}
