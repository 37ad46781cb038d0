/** The main thread's end of one of the store's threads: calls, time limits, restart. Used by `store.ts` only. */

import { Worker } from 'node:worker_threads'
import { StoreUnavailable } from '../store.ts'
import { type Answer, type Call, CLOSE, monotonic, type Operations, READY, type ThreadData } from './calls.ts'

/** Calls that a thread has not answered yet. More than a healthy disk ever leaves waiting. */
const MAX_UNANSWERED = 10_000
/** Milliseconds the thread has to end before it is cut off. */
const CLOSE_TIMEOUT = 5000

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (cause: Error) => void
  readonly timer: NodeJS.Timeout
}

export class Thread<O extends Operations> {
  readonly #data: ThreadData
  readonly #timeout: number
  #worker: Worker | null = null
  /** By call; null where the caller has given up. Those count too: a thread that hangs must not pile up calls. */
  readonly #unanswered = new Map<number, Waiting | null>()
  #lastId = 0
  #starts = 0
  #closing: Promise<void> | null = null

  constructor(data: ThreadData, timeout: number) {
    this.#data = data
    this.#timeout = timeout
  }

  /** How often the thread has been started: after the first time, a crash or a replaced file lies in between. */
  get starts(): number {
    return this.#starts
  }

  /** Resolves once the database is open. */
  async open(timeout: number): Promise<void> {
    await this.#ask(READY, [], timeout)
  }

  async call<M extends keyof O & string>(method: M, ...args: Parameters<O[M]>): Promise<ReturnType<O[M]>> {
    return (await this.#ask(method, args, this.#timeout)) as ReturnType<O[M]>
  }

  /** Calls made before are still answered. */
  close(): Promise<void> {
    this.#closing ??= this.#end()
    return this.#closing
  }

  #ask(method: string, args: readonly unknown[], timeout: number): Promise<unknown> {
    if (this.#closing !== null) return Promise.reject(new StoreUnavailable('the store is closed'))
    if (this.#unanswered.size >= MAX_UNANSWERED) {
      return Promise.reject(new StoreUnavailable(`the store has ${MAX_UNANSWERED} calls waiting`))
    }
    this.#worker ??= this.#start()
    const worker = this.#worker
    const id = ++this.#lastId
    const asked = monotonic()
    const call: Call = { id, method, args, asked, deadline: asked + timeout }
    worker.postMessage(call)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#unanswered.set(id, null)
        reject(new StoreUnavailable(`the store did not answer within ${timeout} ms`))
      }, timeout)
      this.#unanswered.set(id, { resolve, reject, timer })
    })
  }

  #start(): Worker {
    const { role } = this.#data
    const workerData: ThreadData = { ...this.#data, opening: this.#data.opening && this.#starts === 0 }
    // Without the flags of the process: a debugger's port or a test runner's loader is not for this thread.
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData,
      name: `store-${role}`,
      execArgv: [],
    })
    worker.on('message', (answer: Answer) => this.#settle(answer))
    worker.on('error', (cause) => this.#lost(worker, cause))
    worker.on('exit', () => this.#lost(worker, new Error('its thread has ended')))
    // A process that forgot to close the store may end; one that waits for an answer is kept alive by its timer.
    worker.unref()
    this.#starts++
    return worker
  }

  #settle(answer: Answer): void {
    const waiting = this.#unanswered.get(answer.id)
    this.#unanswered.delete(answer.id)
    if (waiting === undefined || waiting === null) return
    clearTimeout(waiting.timer)
    if ('value' in answer) waiting.resolve(answer.value)
    else if ('unavailable' in answer) waiting.reject(new StoreUnavailable(answer.unavailable))
    else waiting.reject(new Error(answer.failed))
  }

  /** The next call starts another one. */
  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    const message = cause instanceof Error ? cause.message : String(cause)
    for (const waiting of this.#unanswered.values()) {
      if (waiting === null) continue
      clearTimeout(waiting.timer)
      waiting.reject(new StoreUnavailable(message, { cause }))
    }
    this.#unanswered.clear()
  }

  async #end(): Promise<void> {
    const worker = this.#worker
    if (worker === null) return
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(() => {
      void worker.terminate()
      resolve()
    }, CLOSE_TIMEOUT)
    worker.once('exit', () => resolve())
    worker.postMessage(CLOSE)
    await promise
    clearTimeout(timer)
  }
}
