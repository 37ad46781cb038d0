/** One line on a terminal that shows the progress of a command. Other outputs get nothing. */

import { performance } from 'node:perf_hooks'

/** The time in ms between two updates. */
const EVERY = 250
/** The sequence that erases the line (ECMA-48, EL) and returns to its beginning. */
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
