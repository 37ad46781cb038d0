/**
 * The writes that wait in a socket for the operating system. Node.js bounds their bytes only. Here each write
 * counts with the objects that it takes, which for a few bytes are a hundred times larger.
 */

import type { Socket } from 'node:net'

/**
 * Bytes of a waiting write besides its content: a Buffer, its memory, and an entry in the queue. Measured.
 */
export const WRITE_BYTES = 256

export class WriteQueue {
  readonly #socket: Socket
  readonly #drained: () => void
  /** Writes since the queue was empty. */
  #writes = 0
  #awaitsEnd = false

  /** @param drained called where `hasRoom` was false and the socket has no `drain` to emit */
  constructor(socket: Socket, drained: () => void = () => {}) {
    this.#socket = socket
    this.#drained = drained
  }

  /** Memory that the waiting writes take. */
  get bytes(): number {
    const { writableLength } = this.#socket
    return writableLength === 0 ? 0 : writableLength + this.#writes * WRITE_BYTES
  }

  /** Call before a write. */
  count(): void {
    if (this.#socket.writableLength === 0) this.#writes = 0
    this.#writes++
  }

  /**
   * Call after a write.
   *
   * @returns false on backpressure; `drain` of the socket follows, or `drained`
   */
  hasRoom(): boolean {
    const socket = this.#socket
    if (socket.writableNeedDrain) return false
    if (this.bytes < socket.writableHighWaterMark || !socket.writable) return true
    if (!this.#awaitsEnd) this.#awaitEnd()
    return false
  }

  /**
   * Node.js emits no `drain` before the bytes alone are too many: an empty write tells when all before it
   * have left.
   */
  #awaitEnd(): void {
    const writes = this.#writes
    this.#awaitsEnd = true
    this.#socket.write('', 'latin1', (error) => {
      this.#awaitsEnd = false
      if (error) return
      this.#writes = Math.max(0, this.#writes - writes)
      this.#drained()
    })
  }
}
