/** The progress of a replay, as one line on a terminal. Nothing is written if the output is no terminal. */

import { performance } from 'node:perf_hooks'
import { StatusLine } from '../status-line.ts'

export class Progress {
  readonly #line: StatusLine
  /** The bytes of all files; null if they are unknown. */
  readonly #size: number | null
  readonly #startedAt = performance.now()
  #bytes = 0

  /** Makes a line for some files. @param sizes the bytes of each file; null: unknown */
  constructor(output: NodeJS.WriteStream, sizes: readonly (number | null)[]) {
    this.#line = new StatusLine(output)
    this.#size = sizes.reduce<number | null>(
      (sum, size) => (sum === null || size === null ? null : sum + size),
      0,
    )
  }

  readonly read = (bytes: number): void => {
    this.#bytes += bytes
  }

  /** Updates the line. @param lines the number of lines so far */
  show(lines: number): void {
    this.#line.show(() => {
      const rate = Math.round(lines / ((performance.now() - this.#startedAt) / 1000))
      return `${this.#share()}${grouped(lines)} lines, ${grouped(rate)} per second`
    })
  }

  #share(): string {
    if (this.#size === null || this.#size === 0) return ''
    // A file may grow while it is read.
    return `${Math.min(100, Math.floor((this.#bytes * 100) / this.#size))} %  `
  }

  end(): void {
    this.#line.end()
  }
}

export function grouped(count: number): string {
  return count.toLocaleString('en')
}
