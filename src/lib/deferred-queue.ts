/**
 * The line of those whose last request was refused. Each turn of the event loop takes a few of them, beside all who
 * were not: so a flood of requests that come to nothing makes others wait for a few of them, not for as many as there
 * are connections. When nobody else asks anything, the loop turns as fast as it can, and nobody is slowed down.
 */

/** Taken at each turn. */
const PER_ITERATION = 4

export interface DeferredTask {
  /** Its turn has come. */
  run(): void
}

export class DeferredQueue {
  readonly #tasks: DeferredTask[] = []

  add(task: DeferredTask): void {
    this.#tasks.push(task)
    if (this.#tasks.length === 1) setImmediate(this.#runSome)
  }

  readonly #runSome = (): void => {
    for (const task of this.#tasks.splice(0, PER_ITERATION)) task.run()
    if (this.#tasks.length > 0) setImmediate(this.#runSome)
  }
}
