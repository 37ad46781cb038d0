/**
 * The queue of connections whose last request was refused. Each event loop iteration takes a few of them, beside all
 * other connections. A flood of refused requests then delays others by a few requests, not by one for each connection or
 * stream. Without other traffic the loop iterates at full speed, so the queue delays nothing.
 */

/** Tasks for each iteration of the event loop. */
const PER_ITERATION = 4

export interface DeferredTask {
  run(): void
}

export class DeferredQueue {
  readonly #tasks: DeferredTask[] = []
  #isScheduled = false

  add(task: DeferredTask): void {
    this.#tasks.push(task)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(this.#runSome)
  }

  /** A task may add itself again. */
  readonly #runSome = (): void => {
    const tasks = this.#tasks.splice(0, PER_ITERATION)
    this.#isScheduled = false
    for (const task of tasks) task.run()
    if (this.#tasks.length > 0) this.#schedule()
  }
}
