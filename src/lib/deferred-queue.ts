/**
 * The queue of connections whose last request was refused. Each event loop iteration takes a few of them, beside all
 * other connections. A flood of refused requests then delays others by a few requests, not by one for each connection.
 * Without other traffic the loop iterates at full speed, so the queue delays nothing.
 */

/** Tasks for each iteration of the event loop. */
const PER_ITERATION = 4

export interface DeferredTask {
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
