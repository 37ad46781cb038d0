/**
 * Texts in the order in which they came. The oldest ones give way. They are in a buffer outside of V8's heap:
 * as strings they would survive two collections each, which costs several microseconds per text.
 */

/** Bytes at first. */
const CAPACITY = 16 * 1024

export class TextRing {
  #bytes = Buffer.allocUnsafeSlow(CAPACITY)
  /**
   * The end of the last text, counted in the bytes of all texts, with those skipped. A text is in one piece
   * at `position % capacity`.
   */
  #end = 0

  /**
   * The capacity doubles where the kept texts fill it.
   *
   * @param text latin1
   * @param oldest the position of the oldest text that is kept; Infinity if there is none
   * @returns its position, which is larger than those before
   */
  add(text: string, oldest: number): number {
    let start = this.#next(text.length)
    while (start + text.length - Math.min(oldest, start) > this.#bytes.length) {
      this.#grow(oldest)
      start = this.#next(text.length)
    }
    this.#bytes.write(text, start % this.#bytes.length, 'latin1')
    this.#end = start + text.length
    return start
  }

  /**
   * @param position of a text that is kept
   * @param to exclusive
   */
  slice(position: number, from: number, to: number): string {
    const start = position % this.#bytes.length
    return this.#bytes.toString('latin1', start + from, start + to)
  }

  /** The position of the next text: the end of the buffer is skipped where it is too short. */
  #next(length: number): number {
    const capacity = this.#bytes.length
    const index = this.#end % capacity
    return index + length <= capacity ? this.#end : this.#end + capacity - index
  }

  #grow(oldest: number): void {
    const small = this.#bytes
    const large = Buffer.allocUnsafeSlow(2 * small.length)
    // A text in one piece stays in one: each end of the large buffer was an end of the small buffer.
    let from = Math.min(oldest, this.#end)
    while (from < this.#end) {
      const index = from % small.length
      const length = Math.min(small.length - index, this.#end - from)
      small.copy(large, from % large.length, index, index + length)
      from += length
    }
    this.#bytes = large
  }
}
