/** How far a replay is, as one line on a terminal. Anywhere else nothing is written. */

import { performance } from 'node:perf_hooks'

/** Milliseconds between two states. */
const EVERY = 250
/** Erases the line (ECMA-48, EL) and returns to its beginning. */
const ERASE = '\r\x1b[K'

export class Progress {
  readonly #output: NodeJS.WriteStream
  /** Bytes of all files; null: unknown. */
  readonly #size: number | null
  readonly #startedAt = performance.now()
  #shownAt = this.#startedAt
  #isShown = false
  #bytes = 0

  /** @param sizes bytes of each file; null: unknown */
  constructor(output: NodeJS.WriteStream, sizes: readonly (number | null)[]) {
    this.#output = output
    this.#size = sizes.reduce<number | null>(
      (sum, size) => (sum === null || size === null ? null : sum + size),
      0,
    )
  }

  readonly read = (bytes: number): void => {
    this.#bytes += bytes
  }

  /** @param lines so far */
  show(lines: number): void {
    const now = performance.now()
    if (!this.#output.isTTY || now - this.#shownAt < EVERY) return
    this.#shownAt = now
    this.#isShown = true
    const rate = Math.round(lines / ((now - this.#startedAt) / 1000))
    this.#output.write(`${ERASE}${this.#share()}${grouped(lines)} lines, ${grouped(rate)} per second`)
  }

  #share(): string {
    if (this.#size === null || this.#size === 0) return ''
    // A file may grow meanwhile.
    return `${Math.min(100, Math.floor((this.#bytes * 100) / this.#size))} %  `
  }

  end(): void {
    if (this.#isShown) this.#output.write(ERASE)
  }
}

export function grouped(count: number): string {
  return count.toLocaleString('en')
}
