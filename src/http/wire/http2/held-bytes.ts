/**
 * Received bytes that wait for their reader. They are copied into blocks: a peer may send single bytes, and
 * each would keep an object of its own, and with it the whole read that it came in.
 */

/** The least bytes of a block of received bytes. */
const BLOCK = 1024

export class HeldBytes {
  readonly #blocks: Buffer[] = []
  /** Bytes in the last block. */
  #used = 0
  /** Bytes of all blocks, used or not. */
  allocated = 0

  get isEmpty(): boolean {
    return this.#blocks.length === 0
  }

  clear(): void {
    this.#blocks.length = 0
    this.allocated = 0
  }

  add(chunk: Buffer): void {
    const last = this.#blocks.at(-1)
    const copied = last === undefined ? 0 : chunk.copy(last, this.#used)
    this.#used += copied
    if (copied === chunk.length) return
    const rest = chunk.length - copied
    const block = Buffer.allocUnsafeSlow(Math.max(rest, BLOCK))
    chunk.copy(block, 0, copied)
    this.#blocks.push(block)
    this.#used = rest
    this.allocated += block.length
  }

  /**
   * Takes the oldest bytes out.
   *
   * @returns null if there are none
   */
  take(): Buffer | null {
    const block = this.#blocks.shift()
    if (block === undefined) return null
    this.allocated -= block.length
    return this.#blocks.length === 0 ? block.subarray(0, this.#used) : block
  }
}
