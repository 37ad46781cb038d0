/** Splits the bytes of a log into lines, in constant memory. */

import { MOST_BYTES } from '../../access/replay/unjudged-reasons.ts'

export interface Lines {
  readonly lines: readonly string[]
  /** Lines over the limit, which are left out. */
  readonly tooLong: number
}

const NONE: Lines = Object.freeze({ lines: Object.freeze([]), tooLong: 0 })
const NEWLINE = 0x0a
const MOST_PARTS = 64
const BYTE_ORDER_MARK = '\ufeff'

export class LineSplitter {
  /** The beginning of a line whose end has not arrived. */
  #rest: Buffer[] = []
  #restBytes = 0
  /** The current line is over the limit. */
  #skips = false
  #isFirst = true
  readonly #most: number

  /** @param most bytes of a line */
  constructor(most = MOST_BYTES) {
    this.#most = most
  }

  /** @param chunk no longer than the longest line */
  push(chunk: Buffer): Lines {
    const first = chunk.indexOf(NEWLINE)
    if (first < 0) {
      this.#keep(chunk)
      return NONE
    }
    const last = chunk.lastIndexOf(NEWLINE)
    this.#keep(chunk.subarray(0, first))
    const ended = this.#endLine()
    const lines = first === last ? [] : chunk.toString('utf8', first + 1, last).split('\n')
    this.#keep(chunk.subarray(last + 1))
    return ended === null ? { lines, tooLong: 1 } : { lines: [ended, ...lines], tooLong: 0 }
  }

  /** The last line, which may have no end. */
  end(): Lines {
    if (this.#restBytes === 0 && !this.#skips) return NONE
    const ended = this.#endLine()
    return ended === null ? { lines: [], tooLong: 1 } : { lines: [ended], tooLong: 0 }
  }

  #keep(part: Buffer): void {
    if (this.#skips || part.length === 0) return
    this.#restBytes += part.length
    this.#rest.push(part)
    // A pipe may bring one byte at a time.
    if (this.#rest.length > MOST_PARTS) this.#rest = [Buffer.concat(this.#rest)]
    if (this.#restBytes <= this.#most) return
    this.#skips = true
    this.#rest = []
  }

  /** Null: it is over the limit. */
  #endLine(): string | null {
    const text = this.#skips ? null : Buffer.concat(this.#rest, this.#restBytes).toString('utf8')
    const isMarked = this.#isFirst && text?.startsWith(BYTE_ORDER_MARK) === true
    this.#rest = []
    this.#restBytes = 0
    this.#skips = false
    this.#isFirst = false
    return isMarked ? (text?.slice(1) ?? null) : text
  }
}
