/**
 * The field blocks of a peer, in HEADERS and CONTINUATION frames (RFC 9113, section 4.3): collects each one
 * and decodes it. No other frame may come in between, so an unfinished block holds up the connection.
 */

import { performance } from 'node:perf_hooks'
import type { FloodGuard } from './flood-guard.ts'
import { headersContent } from './frame-reader.ts'
import { HpackDecoder } from './hpack-decoder.ts'
import { ENHANCE_YOUR_CALM, Http2Error, PROTOCOL_ERROR } from './http2-errors.ts'
import { CONTINUATION, END_HEADERS, END_STREAM, MAX_PAYLOAD } from './http2-frames.ts'
import type { SessionSettings } from './settings.ts'

/** CONTINUATION frames of a block: more than any accepted header section needs (CVE-2024-27983). */
const MAX_CONTINUATIONS = 16
/** Bytes of field blocks before decoding, as a multiple of the limit of a decoded list. */
const BLOCK_FACTOR = 4
/** `:method`, `:scheme`, `:authority`, `:path` do not count as fields. */
const MAX_PSEUDO = 4

type Limits = Pick<SessionSettings, 'headerBytes' | 'headerFields'>

export class FieldBlocks {
  readonly #settings: Limits
  readonly #guard: FloodGuard
  readonly #decoder = new HpackDecoder()
  #block: FieldSection | null = null

  constructor(settings: Limits, guard: FloodGuard) {
    this.#settings = settings
    this.#guard = guard
  }

  /** The monotonic ms at which an incomplete block began; Infinity if there is none. */
  get startedAt(): number {
    return this.#block?.startedAt ?? Infinity
  }

  /** Bytes of an incomplete block. */
  get heldBytes(): number {
    return this.#block?.bytes ?? 0
  }

  /** Drops an incomplete block. */
  stop(): void {
    this.#block = null
  }

  /** Throws an Http2Error if the frame may not come now. */
  admit(type: number, id: number): void {
    if (this.#block !== null && (type !== CONTINUATION || id !== this.#block.stream))
      throw new Http2Error(PROTOCOL_ERROR, 'a frame interrupts a field block')
  }

  /**
   * Reads a HEADERS frame. Throws an Http2Error or an HpackError.
   *
   * @returns the section, or null if the block goes on
   */
  headers(flags: number, id: number, payload: Buffer): FieldSection | null {
    if (id === 0) throw new Http2Error(PROTOCOL_ERROR, 'HEADERS without a stream')
    const { block, dependsOn } = headersContent(flags, payload)
    this.#block = new FieldSection(id, (flags & END_STREAM) !== 0, dependsOn === id)
    return this.#add(this.#block, flags, block)
  }

  /** A CONTINUATION frame. As `headers`. */
  continuation(flags: number, payload: Buffer): FieldSection | null {
    if (this.#block === null) throw new Http2Error(PROTOCOL_ERROR, 'CONTINUATION without HEADERS')
    if (payload.length === 0) this.#guard.overhead()
    return this.#add(this.#block, flags, payload)
  }

  #add(block: FieldSection, flags: number, fragment: Buffer): FieldSection | null {
    const { headerBytes, headerFields } = this.#settings
    const isLast = (flags & END_HEADERS) !== 0
    block.add(fragment, isLast, (headerBytes + MAX_PAYLOAD) * BLOCK_FACTOR)
    if (!isLast) return null
    this.#block = null
    block.complete = this.#decoder.decode(
      block.content,
      { maxBytes: headerBytes + headerFields * 32, maxFields: headerFields + MAX_PSEUDO },
      (name, value) => block.fields.push(name, value),
    )
    return block
  }
}

/** A block, while it is collected and once it is decoded. */
export class FieldSection {
  readonly stream: number
  readonly endStream: boolean
  /** It claims to depend on its own stream. */
  readonly isFaulty: boolean
  /** Name, value, … raw and in order. */
  readonly fields: string[] = []
  /** Whether the list is within the limits. Otherwise it is cut. */
  complete = true
  /** Monotonic ms of its HEADERS frame. */
  readonly startedAt: number = performance.now()
  bytes = 0
  readonly #pieces: Buffer[] = []

  constructor(stream: number, endStream: boolean, isFaulty: boolean) {
    this.stream = stream
    this.endStream = endStream
    this.isFaulty = isFaulty
  }

  /**
   * Throws an Http2Error.
   *
   * @param fragment it is copied unless it is `last`, as it shares memory with the read
   * @param limit bytes in all: decoding goes on beyond the limit of a list, to keep the dynamic table in step
   */
  add(fragment: Buffer, last: boolean, limit: number): void {
    this.bytes += fragment.length
    if (this.bytes > limit || this.#pieces.length > MAX_CONTINUATIONS)
      throw new Http2Error(ENHANCE_YOUR_CALM, 'a field block is longer than the limit')
    this.#pieces.push(last ? fragment : Buffer.from(fragment))
  }

  /** The whole block. */
  get content(): Buffer {
    const [only] = this.#pieces
    return this.#pieces.length === 1 && only !== undefined ? only : Buffer.concat(this.#pieces, this.bytes)
  }
}
