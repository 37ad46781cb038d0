/**
 * The frames of a connection on their way to the socket. All frames of one turn of the event loop leave in one write: with
 * TLS, in as few records as possible.
 */

import type { Socket } from 'node:net'
import { nextStage } from '../../../lib/batched-stages.ts'
import { writeLast } from '../last-write.ts'
import { WRITE_BYTES, WriteQueue } from '../write-queue.ts'
import type { Http2Stream } from './stream.ts'

/** Bytes that wait here, or memory that writes take in the socket, from which senders of DATA wait. */
const HIGH_WATER_MARK = 64 * 1024
/** Up to this many bytes are copied into one piece, and so are small pieces. */
const MAX_COPIED = 16 * 1024
const NOTHING = Buffer.alloc(0)

export abstract class FrameWriter {
  readonly #socket: Socket
  readonly #writes: WriteQueue
  #pieces: Buffer[] = []
  #bytes = 0
  /** Streams whose last frames are among them. */
  #finishing: Http2Stream[] = []
  #unflushed = 0
  #scheduled = false

  constructor(socket: Socket) {
    this.#socket = socket
    this.#writes = new WriteQueue(socket)
  }

  /** The operating system has accepted what was written. */
  protected abstract writable(): void

  /** @param finishing learns when the operating system has this piece and all before it */
  write(piece: Buffer, finishing: Http2Stream | null = null): void {
    this.#pieces.push(piece)
    this.#bytes += piece.length
    if (finishing !== null) {
      this.#finishing.push(finishing)
      this.#unflushed++
    }
    if (this.#scheduled) return
    this.#scheduled = true
    nextStage(flush, this)
  }

  /** Memory of what the operating system has not accepted. */
  get pending(): number {
    return this.#bytes + this.#writes.bytes
  }

  /** Streams whose last frame the operating system has not accepted, as far as this side knows. */
  get unflushed(): number {
    return this.#unflushed
  }

  /** DATA has to wait. */
  get congested(): boolean {
    return this.pending >= HIGH_WATER_MARK
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
    this.#unflushed -= finishing.length
    if (this.#socket.destroyed) return
    for (const each of finishing) each.flushed()
    this.writable()
  }
}

/** @returns as {@link writeLast} */
function writePieces(socket: Socket, pieces: Buffer[], bytes: number, accepted: () => void): boolean {
  if (pieces.length > 1 && (bytes <= MAX_COPIED || bytes < pieces.length * WRITE_BYTES))
    return writeLast(socket, Buffer.concat(pieces, bytes), accepted)
  const last = pieces.pop() ?? NOTHING
  return writeLast(socket, last, accepted, pieces)
}

function flush(writer: FrameWriter): void {
  writer.flush()
}
