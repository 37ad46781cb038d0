/**
 * The sending half of an HTTP/2 connection: frames of its streams, within the windows of the peer (RFC 9113,
 * section 6.9) and as the socket accepts them. Streams that wait get one frame a turn each, so that none
 * keeps the connection for itself. Where half of the window of the connection is taken by bytes that the peer
 * has not read, the owner bounds what a stream sends. All frames of one turn of the event loop leave in one
 * write: with TLS, in as few records as possible.
 */

import type { Socket } from 'node:net'
import { inBatch } from '../../../lib/batched-steps.ts'
import { writeLast } from '../last-write.ts'
import { WRITE_BYTES, WriteQueue } from '../write-queue.ts'
import { FLOW_CONTROL_ERROR, Http2Error, INTERNAL_ERROR, SectionTooLarge } from './http2-errors.ts'
import type { FloodGuard } from './flood-guard.ts'
import {
  CONTINUATION,
  DATA,
  DEFAULT_WINDOW,
  END_HEADERS,
  END_STREAM,
  FRAME_HEADER,
  HEADERS,
  MAX_PAYLOAD,
  MAX_WINDOW,
  numberFrame,
  RST_STREAM,
  WINDOW_UPDATE,
  writeFrameHeader,
} from './http2-frames.ts'
import { HpackEncoder } from './hpack-encoder.ts'
import { exceeds, type SectionLimits } from './section-limits.ts'
import type { PeerSettings } from './settings.ts'
import type { Http2Stream, StreamOwner } from './stream.ts'

/** Bytes that wait here, or memory that writes take in the socket, from which senders of DATA wait. */
const HIGH_WATER_MARK = 64 * 1024
/** Up to this many bytes are copied into one piece, and so are small pieces. */
const MAX_COPIED = 16 * 1024
const NOTHING = Buffer.alloc(0)

/** Frames that wait for a peer that does not read: answers to SETTINGS and PING, resets. */
const MAX_UNREAD_CONTROL = 1024

/** The window of a connection if unread bytes take at least half of it. */
export interface ScarceWindow {
  readonly left: number
  readonly taken: number
  /** Bytes that the stream has to send. */
  readonly wanted: number
  /** Changes with the unread bytes of any stream. */
  readonly version: number
}

export interface SenderOwner {
  /** Both sides of a stream have ended. */
  streamClosed(stream: Http2Stream): void
  /** How many bytes a stream may send of a scarce window. */
  shareOf(stream: Http2Stream, window: ScarceWindow): number
}

export class Sender implements StreamOwner {
  readonly #encoder = new HpackEncoder()
  /** The limits of the peer; null if there are none. */
  #sections: SectionLimits | null
  /**
   * Streams whose last frame the operating system has not accepted, as far as this side knows. Only the
   * sender writes it.
   */
  unflushed = 0
  readonly #socket: Socket
  readonly #writes: WriteQueue
  readonly #owner: SenderOwner
  readonly #guard: FloodGuard
  /** What waits for the end of the turn, and the streams whose last frames are among it. */
  #pieces: Buffer[] = []
  #bytes = 0
  #finishing: Http2Stream[] = []
  #scheduled = false
  /** Streams that wait for the socket or for windows, in the order in which they get their turns. */
  readonly #waiting = new Set<Http2Stream>()
  /** Bytes that the peer accepts on the connection. */
  #window = DEFAULT_WINDOW
  /** The largest value of `#window`. */
  #fullWindow = DEFAULT_WINDOW
  /** See {@link ScarceWindow}. */
  #version = 0
  #unreadControl = 0
  #buffered = 0
  #ended = false

  /** @param sections as in `SessionSettings` */
  constructor(socket: Socket, guard: FloodGuard, owner: SenderOwner, sections: SectionLimits | null) {
    this.#sections = sections
    this.#socket = socket
    this.#writes = new WriteQueue(socket)
    this.#owner = owner
    this.#guard = guard
  }

  /** The peer's settings have arrived. */
  configure({ headerTableSize, sections }: PeerSettings): void {
    this.#encoder.setTableSize(headerTableSize)
    if (this.#sections !== null && sections !== null) this.#sections = sections
  }

  /** @param finishing learns when the operating system has this piece and all before it */
  write(piece: Buffer, finishing: Http2Stream | null = null): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (finishing !== null) {
      this.#finishing.push(finishing)
      this.unflushed++
    }
    if (this.#scheduled) return
    this.#scheduled = true
    inBatch(flush, this)
  }

  /** Memory of what the operating system has not accepted. */
  get pending(): number {
    return this.#bytes + this.#writes.bytes
  }

  /** DATA has to wait. */
  get congested(): boolean {
    return this.pending >= HIGH_WATER_MARK
  }

  /** The window of the connection has room for a frame of DATA. */
  get hasWindow(): boolean {
    return this.#window >= MAX_PAYLOAD
  }

  /** Writes what waits. Called at the end of a turn, and before the connection is closed. */
  flush(): void {
    this.#scheduled = false
    const socket = this.#socket
    const bytes = this.#bytes
    if (bytes === 0 || !socket.writable) return
    const pieces = this.#pieces
    const finishing = this.#finishing
    this.#pieces = []
    this.#bytes = 0
    if (finishing.length > 0) this.#finishing = []
    this.#writes.count()
    const accepted = () => this.#accepted(finishing)
    if (writePieces(socket, pieces, bytes, accepted)) accepted()
  }

  #accepted(finishing: readonly Http2Stream[]): void {
    this.unflushed -= finishing.length
    if (this.#socket.destroyed) return
    for (const each of finishing) each.flushed()
    if (this.#waiting.size > 0) this.pump()
  }

  /** Adds a frame that the peer has caused. Throws an Http2Error if the peer causes many and reads none. */
  writeControl(piece: Buffer): void {
    if (!this.congested) this.#unreadControl = 0
    else if (++this.#unreadControl > MAX_UNREAD_CONTROL)
      throw new Http2Error(INTERNAL_ERROR, 'the peer does not read the answers to its frames')
    this.write(piece)
  }

  /** Bytes that are held for streams, received and to be sent. */
  get bufferedBytes(): number {
    return this.#buffered
  }

  buffered(bytes: number): void {
    this.#buffered += bytes
  }

  violated(): void {
    this.#guard.countReset()
  }

  /** Streams send nothing more. */
  end(): void {
    this.#ended = true
    this.#waiting.clear()
  }

  sendReset(stream: Http2Stream, code: number): void {
    if (!this.#ended) this.write(numberFrame(RST_STREAM, stream.id, code))
  }

  sendWindowUpdate(stream: Http2Stream, bytes: number): void {
    if (!this.#ended) this.write(numberFrame(WINDOW_UPDATE, stream.id, bytes))
  }

  sendHeaders(stream: Http2Stream, fields: readonly string[], endStream: boolean, lines: string): void {
    if (!this.#ended) this.sendBlock(stream, this.encode(fields, lines), endStream)
  }

  /** @param frames from `encode` */
  sendBlock(stream: Http2Stream, frames: Buffer, endStream: boolean): void {
    if (this.#ended) return
    const length = frames.length - FRAME_HEADER
    const flags = endStream ? END_STREAM : 0
    const finishing = endStream ? stream : null
    if (length > MAX_PAYLOAD)
      return this.#sendLongHeaders(stream, frames.subarray(FRAME_HEADER), flags, finishing)
    writeFrameHeader(frames, 0, length, HEADERS, flags | END_HEADERS, stream.id)
    this.write(frames, finishing)
  }

  /**
   * Throws a SectionTooLarge, or a RangeError.
   *
   * @returns the field block, after room for the header of a frame
   */
  encode(fields: readonly string[], lines: string): Buffer {
    const encoder = this.#encoder
    encoder.begin(FRAME_HEADER)
    for (let i = 0; i < fields.length; i += 2) encoder.field(fields[i] ?? '', fields[i + 1] ?? '')
    const count = lines === '' ? 0 : encoder.lines(lines)
    if (this.#sections !== null && exceeds(this.#sections, fields, lines, count)) throw new SectionTooLarge()
    return encoder.end()
  }

  #sendLongHeaders(stream: Http2Stream, block: Buffer, flags: number, finishing: Http2Stream | null): void {
    for (let at = 0; at < block.length; at += MAX_PAYLOAD) {
      const end = Math.min(at + MAX_PAYLOAD, block.length)
      const isLast = end === block.length
      const header = Buffer.allocUnsafe(FRAME_HEADER)
      const type = at === 0 ? HEADERS : CONTINUATION
      writeFrameHeader(
        header,
        0,
        end - at,
        type,
        (at === 0 ? flags : 0) | (isLast ? END_HEADERS : 0),
        stream.id,
      )
      this.write(header)
      this.write(block.subarray(at, end), isLast ? finishing : null)
    }
  }

  sendData(stream: Http2Stream, chunk: Buffer, endStream: boolean): number {
    if (this.#ended) return chunk.length
    let sent = 0
    do {
      const wanted = Math.min(chunk.length - sent, MAX_PAYLOAD)
      const length = Math.min(wanted, this.#roomFor(stream, wanted))
      if (chunk.length > 0 && (length === 0 || this.congested)) return sent
      this.#writeData(
        stream,
        chunk.subarray(sent, sent + length),
        endStream && sent + length === chunk.length,
      )
      sent += length
    } while (sent < chunk.length)
    return sent
  }

  #roomFor(stream: Http2Stream, wanted: number): number {
    const left = this.#window
    const taken = this.#fullWindow - left
    const room = Math.min(stream.sendWindow, left)
    const untilScarce = Math.ceil(this.#fullWindow / 2) - taken
    if (room <= 0 || untilScarce > 0) return Math.max(0, Math.min(room, untilScarce))
    const window = { left, taken, wanted, version: this.#version }
    return Math.max(0, Math.min(room, this.#owner.shareOf(stream, window)))
  }

  /** The peer has read some of a body, or accepts more of it. */
  windowReturned(stream: Http2Stream, bytes: number): void {
    stream.sendWindow += bytes
    stream.unreadBytes = Math.max(0, stream.unreadBytes - bytes)
    this.#version++
  }

  #writeData(stream: Http2Stream, content: Buffer, isLast: boolean): void {
    const { length } = content
    stream.sendWindow -= length
    stream.unreadBytes += length
    this.#version++
    this.#window -= length
    this.#guard.dataSent(length)
    const header = Buffer.allocUnsafe(FRAME_HEADER)
    writeFrameHeader(header, 0, length, DATA, isLast ? END_STREAM : 0, stream.id)
    const finishing = isLast ? stream : null
    this.write(header, length === 0 ? finishing : null)
    if (length > 0) this.write(content, finishing)
  }

  /** The peer accepts more on the connection. Throws an Http2Error. */
  widen(bytes: number): void {
    this.#window += bytes
    if (this.#window > MAX_WINDOW) throw new Http2Error(FLOW_CONTROL_ERROR, 'a window is too large')
    this.#fullWindow = Math.max(this.#fullWindow, this.#window)
    this.pump()
  }

  waits(stream: Http2Stream): void {
    this.#waiting.add(stream)
  }

  /** Sends what waits, as far as windows and socket admit. */
  pump(): void {
    for (let progress = true; progress && !this.#ended && this.#waiting.size > 0;) {
      progress = false
      for (const stream of [...this.#waiting]) {
        if (this.congested) return
        this.#waiting.delete(stream)
        if (!stream.isWaiting) continue
        if (stream.pump()) progress = true
        // Without room in its own window it waits for its WINDOW_UPDATE.
        if (stream.isWaiting && stream.sendWindow > 0) this.#waiting.add(stream)
      }
    }
  }

  streamClosed(stream: Http2Stream): void {
    this.#version++
    this.#waiting.delete(stream)
    this.#owner.streamClosed(stream)
  }
}

/**
 * What may be added to unread bytes for them to be this multiple of the window that is left then (Choudhury
 * and Hahne, "Dynamic queue length thresholds", 1998): others always find some of it. Some peers never return
 * the windows of short streams: they have read what the connection got back.
 */
export function unreadRoom(unread: number, share: number, { left, taken }: ScarceWindow): number {
  return Math.floor((left * share - Math.min(unread, taken)) / (share + 1))
}

/** @returns as {@link writeLast} */
function writePieces(socket: Socket, pieces: Buffer[], bytes: number, accepted: () => void): boolean {
  if (pieces.length > 1 && (bytes <= MAX_COPIED || bytes < pieces.length * WRITE_BYTES))
    return writeLast(socket, Buffer.concat(pieces, bytes), accepted)
  const last = pieces.pop() ?? NOTHING
  return writeLast(socket, last, accepted, pieces)
}

function flush(sender: Sender): void {
  sender.flush()
}
