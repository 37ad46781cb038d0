/** The main thread's end of one of the store's threads: calls, time limits, restart. */

import { Worker } from 'node:worker_threads'
import { monotonic } from '../clock.ts'
import type { Health, Work } from '../health.ts'
import { StoreUnavailable } from '../store.ts'
import {
  type Answer,
  type Call,
  CLOSE,
  type Opened,
  type Operations,
  READY,
  type Role,
  type ThreadData,
} from './calls.ts'
import { Superseded } from './ownership.ts'

/** Calls that a thread has not answered yet. More than a healthy disk ever leaves waiting. */
const MAX_UNANSWERED = 10_000
/** Milliseconds the thread has to end before it is cut off. */
const CLOSE_TIMEOUT = 5000

const WORK: Readonly<Record<Role, Work>> = { reader: 'reads', lister: 'lists', writer: 'writes' }

export interface ThreadOwner {
  readonly health: Health
  /** What a thread is started with now. */
  dataOf(role: Role): ThreadData
  /** Null: calls may go on. Else they wait for it; its rejection is their answer. */
  gate(): Promise<void> | null
  /** Told when a thread finds that its files are not, or no longer, those of the store. */
  moved(message: string): void
  /** Told when a thread finds that another gateway owns the store. */
  superseded(message: string): void
}

/** An answer to one call. */
type Settling = Exclude<Answer, { moved: string } | { superseded: string }>

interface Waiting {
  readonly resolve: (value: unknown) => void
  readonly reject: (cause: Error) => void
  readonly timer: NodeJS.Timeout
}

export class Thread<O extends Operations> {
  readonly #owner: ThreadOwner
  readonly #role: Role
  readonly #timeout: number
  #worker: Worker | null = null
  /** All that have been started and not ended: {@link drop} and a crash leave some that still have the file open. */
  readonly #alive = new Set<Worker>()
  /** By call; null where the caller has given up. Those count too: a thread that hangs must not pile up calls. */
  readonly #unanswered = new Map<number, Waiting | null>()
  #lastId = 0
  #starts = 0
  #closing: Promise<void> | null = null

  constructor(owner: ThreadOwner, role: Role, timeout: number) {
    this.#owner = owner
    this.#role = role
    this.#timeout = timeout
  }

  /** How often the thread has been started: after the first time, a crash or a replaced file lies in between. */
  get starts(): number {
    return this.#starts
  }

  /** Starts the thread, whatever the gate. Resolves once the database is open, with what it found. */
  async open(timeout: number): Promise<Opened> {
    return (await this.#ask(READY, [], timeout, () => null)) as Opened
  }

  call<M extends keyof O & string>(method: M, ...args: Parameters<O[M]>): Promise<ReturnType<O[M]>> {
    return this.#owner.health.watch(WORK[this.#role], async () => {
      return (await this.#ask(method, args, this.#timeout, () => this.#owner.gate())) as ReturnType<O[M]>
    })
  }

  /** Rejects what is unanswered, and asks the running thread nothing more; the next call starts another one. */
  drop(cause: StoreUnavailable): void {
    this.#worker = null
    this.#rejectAll(cause)
  }

  /** Ends what has been dropped. Resolves once it has closed the file, however long it takes. */
  async gone(): Promise<void> {
    await Promise.all([...this.#alive].map((worker) => ended(worker)))
  }

  /** Calls made before are still answered. */
  close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#closing ??= Promise.race([this.gone(), promise])
    // A thread that hangs in a call to the disk can't even be cut off: it is left behind.
    const timer = setTimeout(resolve, CLOSE_TIMEOUT + 500)
    return this.#closing.finally(() => clearTimeout(timer))
  }

  #ask(
    method: string,
    args: readonly unknown[],
    timeout: number,
    gateOf: () => Promise<void> | null,
  ): Promise<unknown> {
    if (this.#closing !== null) return Promise.reject(new StoreUnavailable('the store is closed'))
    if (this.#unanswered.size >= MAX_UNANSWERED) {
      return Promise.reject(
        new StoreUnavailable(`the store has ${MAX_UNANSWERED} calls waiting`, { fault: 'overloaded' }),
      )
    }
    // Not before: a rejection that is heard by no call would end the process.
    const gate = gateOf()
    const id = ++this.#lastId
    const asked = monotonic()
    const call: Call = { id, method, args, asked, deadline: asked + timeout }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#unanswered.set(id, null)
        reject(new StoreUnavailable(`the store did not answer within ${timeout} ms`, { fault: 'timeout' }))
      }, timeout)
      this.#unanswered.set(id, { resolve, reject, timer })
      if (gate === null) this.#post(call)
      else
        gate.then(
          () => this.#post(call),
          ({ message, fault }: StoreUnavailable) => this.#settle({ id, unavailable: message, fault }),
        )
    })
  }

  #post(call: Call): void {
    // Dropped while it waited at the gate.
    if (!this.#unanswered.has(call.id)) return
    if (this.#closing !== null)
      return this.#settle({ id: call.id, unavailable: 'the store is closed', fault: null })
    this.#worker ??= this.#start()
    this.#worker.postMessage(call)
  }

  #start(): Worker {
    // Without the flags of the process: a debugger's port or a test runner's loader is not for this thread.
    const worker = new Worker(new URL('./worker.ts', import.meta.url), {
      workerData: this.#owner.dataOf(this.#role),
      name: `store-${this.#role}`,
      execArgv: [],
    })
    this.#alive.add(worker)
    worker.on('message', (answer: Answer) => {
      if (this.#worker === worker) this.#hear(answer)
    })
    worker.on('error', (cause) => {
      if (this.#worker === worker && isSuperseded(cause)) this.#owner.superseded(cause.message)
      this.#lost(worker, cause)
    })
    worker.on('exit', () => {
      this.#alive.delete(worker)
      this.#lost(worker, new Error('its thread has ended'))
    })
    // A process that forgot to close the store may end; one that waits for an answer is kept alive by its timer.
    worker.unref()
    this.#starts++
    return worker
  }

  #hear(answer: Answer): void {
    if ('moved' in answer) this.#owner.moved(answer.moved)
    else if ('superseded' in answer) this.#owner.superseded(answer.superseded)
    else this.#settle(answer)
  }

  #settle(answer: Settling): void {
    const waiting = this.#unanswered.get(answer.id)
    this.#unanswered.delete(answer.id)
    if (waiting === undefined || waiting === null) return
    clearTimeout(waiting.timer)
    if ('value' in answer) waiting.resolve(answer.value)
    else if ('unavailable' in answer) {
      waiting.reject(new StoreUnavailable(answer.unavailable, { fault: answer.fault }))
    } else waiting.reject(new Error(answer.failed))
  }

  /** The next call starts another one. */
  #lost(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    const message = cause instanceof Error ? cause.message : String(cause)
    this.#rejectAll(new StoreUnavailable(message, { cause }))
  }

  #rejectAll(cause: StoreUnavailable): void {
    for (const waiting of this.#unanswered.values()) {
      if (waiting === null) continue
      clearTimeout(waiting.timer)
      waiting.reject(cause)
    }
    this.#unanswered.clear()
  }
}

/** The thread's own error is a copy here: of its class, the name is left. */
function isSuperseded(cause: unknown): cause is Error {
  return cause instanceof Error && cause.name === Superseded.name
}

async function ended(worker: Worker): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(() => void worker.terminate(), CLOSE_TIMEOUT)
  worker.once('exit', () => resolve())
  worker.postMessage(CLOSE)
  await promise
  clearTimeout(timer)
}
