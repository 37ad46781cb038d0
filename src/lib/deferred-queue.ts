/**
 * The queue of connections whose last request was refused, and that have sent another one. While other
 * requests are in flight, each event loop iteration takes one of them, beside all other connections: a request
 * that is allowed needs several iterations, and would wait for all of them in each. A flood of refused requests
 * then delays others by one request at a time, not by one of each connection or stream. While none is in
 * flight, an iteration takes several, as an iteration costs as much as a refusal: a request that arrives then
 * waits for these once.
 */

export interface DeferredTask {
  run(): void
}

/** The most tasks of an iteration while no other request is in flight: some 0.2 ms of work. */
const IDLE_BATCH = 8

export class DeferredQueue {
  readonly #tasks: DeferredTask[] = []
  readonly #othersInFlight: () => boolean
  #isScheduled = false

  /** @param othersInFlight whether requests that are not refused wait for further iterations */
  constructor(othersInFlight: () => boolean) {
    this.#othersInFlight = othersInFlight
  }

  add(task: DeferredTask): void {
    this.#tasks.push(task)
    this.#schedule()
  }

  #schedule(): void {
    if (this.#isScheduled || this.#tasks.length === 0) return
    this.#isScheduled = true
    setImmediate(this.#runDue)
  }

  /** A task may add itself again, for the next iteration. */
  readonly #runDue = (): void => {
    this.#isScheduled = false
    let count = Math.min(this.#tasks.length, this.#othersInFlight() ? 1 : IDLE_BATCH)
    try {
      for (; count > 0; count--) this.#tasks.shift()?.run()
    } finally {
      this.#schedule()
    }
  }
}
