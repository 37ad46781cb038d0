/**
 * The line of those whose last request was refused. Each turn of the event loop takes a few of them, beside all who
 * were not: so a flood of requests that come to nothing makes others wait for a few of them, not for as many as there
 * are connections. When nobody else asks anything, the loop turns as fast as it can, and nobody is slowed down.
 */

/** Taken at each turn. */
const AT_ONCE = 4

export interface Waiting {
  /** Its turn has come. */
  go(): void
}

export class DeferredQueue {
  readonly #line: Waiting[] = []

  add(waiting: Waiting): void {
    this.#line.push(waiting)
    if (this.#line.length === 1) setImmediate(this.#next)
  }

  readonly #next = (): void => {
    for (const waiting of this.#line.splice(0, AT_ONCE)) waiting.go()
    if (this.#line.length > 0) setImmediate(this.#next)
  }
}
