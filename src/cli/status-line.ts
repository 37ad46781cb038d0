/** One line on a terminal that says how far a command is. Anywhere else nothing is written. */

import { performance } from 'node:perf_hooks'

/** ms between two states. */
const EVERY = 250
/** Erases the line (ECMA-48, EL) and returns to its beginning. */
const ERASE = '\r\x1b[K'

export class StatusLine {
  readonly #output: NodeJS.WriteStream
  #shownAt = performance.now()
  #isShown = false

  constructor(output: NodeJS.WriteStream) {
    this.#output = output
  }

  show(text: () => string): void {
    const now = performance.now()
    if (!this.#output.isTTY || now - this.#shownAt < EVERY) return
    this.#shownAt = now
    this.#isShown = true
    this.#output.write(`${ERASE}${text()}`)
  }

  end(): void {
    if (this.#isShown) this.#output.write(ERASE)
    this.#isShown = false
  }
}
