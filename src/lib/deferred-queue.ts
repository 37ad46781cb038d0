/**
 * The queue of connections whose last request was refused, and that have sent another one. Each event loop
 * iteration takes one of them, beside all other connections. A flood of refused requests then delays others
 * by one request at a time, not by one of each connection or stream. Without other traffic the loop iterates
 * at full speed, so the queue delays nothing. More of them in an iteration cost less (four: an eighth of the
 * CPU time of a refusal), but a request that is allowed needs several iterations, and waits for all of them
 * in each.
 */

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
    if (this.#isScheduled || this.#tasks.length === 0) return
    this.#isScheduled = true
    setImmediate(this.#runNext)
  }

  /** A task may add itself again. */
  readonly #runNext = (): void => {
    this.#isScheduled = false
    const task = this.#tasks.shift()
    this.#schedule()
    task?.run()
  }
}
