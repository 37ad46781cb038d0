/** How far a replay is, as one line on a terminal. Anywhere else nothing is written. */

import { performance } from 'node:perf_hooks'
import { StatusLine } from '../status-line.ts'

export class Progress {
  readonly #line: StatusLine
  /** Bytes of all files; null: unknown. */
  readonly #size: number | null
  readonly #startedAt = performance.now()
  #bytes = 0

  /** @param sizes bytes of each file; null: unknown */
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

  /** @param lines so far */
  show(lines: number): void {
    this.#line.show(() => {
      const rate = Math.round(lines / ((performance.now() - this.#startedAt) / 1000))
      return `${this.#share()}${grouped(lines)} lines, ${grouped(rate)} per second`
    })
  }

  #share(): string {
    if (this.#size === null || this.#size === 0) return ''
    // A file may grow meanwhile.
    return `${Math.min(100, Math.floor((this.#bytes * 100) / this.#size))} %  `
  }

  end(): void {
    this.#line.end()
  }
}

export function grouped(count: number): string {
  return count.toLocaleString('en')
}
