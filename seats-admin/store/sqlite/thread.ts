/** The main thread's interface to one of the store's threads: calls, timeouts, restart. */

import { Worker } from 'node:worker_threads'
import { monotonic } from '../monotonic.ts'
import type { Health, Work } from '../health.ts'
import { StoreUnavailable } from '../store.ts'
import { CLOSED, codeIn, MAX_WAITING, messageOf, notWithin, overloaded } from '../unavailable.ts'
import {
  type ThreadReply,
  type Call,
  CLOSE,
  LONG_CALLS,
  type Method,
  type MethodName,
  type Opened,
  READY,
  type Role,
  type ThreadData,
} from './calls.ts'
import { Superseded } from './ownership.ts'
import { pack, unpack } from './packed-lists.ts'

/** Milliseconds for the thread to end before it is terminated. */
const CLOSE_TIMEOUT = 5000

const WORK: Readonly<Record<Role, Work>> = { reader: 'reads', lister: 'lists', writer: 'writes' }

export interface ThreadOwner {
  readonly health: Health
  /** The worker data of a new thread. */
  dataOf(role: Role): ThreadData
  /** Null when calls may proceed. Otherwise they wait for the promise, and reject as it does. */
  gate(): Promise<void> | null
  /** Called when a thread's files are not, or no longer, those of the store. */
  moved(message: string): void
  /** Called when another gateway owns the store. */
  superseded(message: string): void
}

type Settling = Exclude<ThreadReply, { moved: string } | { superseded: string }>
type Result = Extract<ThreadReply, { value: unknown }>

interface Waiting {
  readonly resolve: (result: Result) => void
  readonly reject: (cause: Error) => void
  readonly timer: NodeJS.Timeout
}

/** Compiled in the package, and TypeScript in a clone. */
const WORKER = new URL(
  import.meta.url.endsWith('.ts') ? './sqlite-thread.ts' : './sqlite-thread.js',
  import.meta.url,
)

export class Thread {
  readonly #owner: ThreadOwner
  readonly #role: Role
  readonly #timeout: number
  #worker: Worker | null = null
  /** All workers that have not ended. After {@link drop} or a crash, some still have the file open. */
  readonly #running = new Set<Worker>()
  /**
   * The waiting calls by id; null after the timeout of the call. Those count too, so that a hung thread does
   * not accumulate calls.
   */
  readonly #pending = new Map<number, Waiting | null>()
  /** The patience of pending calls that may take longer than others, by id. */
  readonly #patient = new Map<number, number>()
  #lastId = 0
  #starts = 0
  #closing: Promise<void> | null = null

  constructor(owner: ThreadOwner, role: Role, timeout: number) {
    this.#owner = owner
    this.#role = role
    this.#timeout = timeout
  }

  /** Number of starts. Each further start follows a crash or a replaced file. */
  get starts(): number {
    return this.#starts
  }

  /** Starts the thread without waiting for the gate. Resolves when the database is open. */
  async open(timeout: number): Promise<Opened> {
    return (await this.#send(READY, [], timeout, () => null)).value as Opened
  }

  /** A method of the store in this thread. */
  method<M extends MethodName>(name: M): Method<M> {
    const patience = LONG_CALLS.get(name)
    const send = (args: readonly unknown[]) =>
      this.#send(name, args, this.#timeout, () => this.#owner.gate(), patience)
    const observed = async (args: readonly unknown[]) => {
      const { health } = this.#owner
      return (await health.observe(WORK[this.#role], () => send(args), hasStored)).value
    }
    const observedPacked = async (args: readonly unknown[]) =>
      unpack(await observed(await Promise.all(args.map(pack))))
    const call = (...args: readonly unknown[]) =>
      patience === undefined ? observed(args) : observedPacked(args)
    return call as Method<M>
  }

  /** Rejects pending calls and abandons the running thread; the next call starts another one. */
  drop(cause: StoreUnavailable): void {
    this.#worker = null
    this.#rejectAll(cause)
  }

  /** Ends the dropped threads. Resolves when they have closed the file, without a timeout. */
  async gone(): Promise<void> {
    await Promise.all([...this.#running].map((worker) => ended(worker)))
  }

  /** Completes earlier calls. */
  close(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#closing ??= Promise.race([this.gone(), promise])
    // A thread that hangs in a disk operation can't be terminated: it is abandoned.
    const timer = setTimeout(resolve, CLOSE_TIMEOUT + 500)
    return this.#closing.finally(() => clearTimeout(timer))
  }

  #send(
    method: string,
    args: readonly unknown[],
    usual: number,
    gateOf: () => Promise<void> | null,
    patience = 1,
  ): Promise<Result> {
    if (this.#closing !== null) return Promise.reject(new StoreUnavailable(CLOSED))
    if (this.#pending.size >= MAX_WAITING) return Promise.reject(overloaded())
    // Called only here: an unhandled rejection of the gate would end the process.
    const gate = gateOf()
    const id = ++this.#lastId
    // A call waits for those before it: it may wait as long as they may take.
    const timeout = usual * Math.max(patience, ...this.#patient.values())
    if (patience > 1) this.#patient.set(id, patience)
    const startedAt = monotonic()
    const call: Call = { id, method, args, startedAt, deadline: startedAt + timeout }
    return new Promise((resolve, reject) => {
      const expire = () => {
        if (!this.#pending.has(id)) return
        this.#patient.delete(id)
        this.#pending.set(id, null)
        reject(notWithin(timeout))
      }
      // If this process was busy, the response may already be in the port: it is read first.
      const timer = setTimeout(() => setImmediate(expire), timeout)
      this.#pending.set(id, { resolve, reject, timer })
      if (gate === null) this.#post(call)
      else
        gate.then(
          () => this.#post(call),
          ({ message, fault }: StoreUnavailable) => this.#settle({ id, unavailable: message, fault }),
        )
    })
  }

  #post(call: Call): void {
    // The call was dropped while it waited for the gate.
    if (!this.#pending.has(call.id)) return
    if (this.#closing !== null) return this.#settle({ id: call.id, unavailable: CLOSED, fault: null })
    this.#worker ??= this.#start()
    this.#worker.postMessage(call)
  }

  #start(): Worker {
    // Without the flags of the process, such as a debugger's port or a test runner's loader. SQLite is
    // experimental in Node.js 22, which it would say on standard error.
    const worker = new Worker(WORKER, {
      workerData: this.#owner.dataOf(this.#role),
      name: `store-${this.#role}`,
      execArgv: ['--disable-warning=ExperimentalWarning'],
    })
    this.#running.add(worker)
    worker.on('message', (reply: ThreadReply) => {
      if (this.#worker === worker) this.#receive(reply)
    })
    worker.on('error', (cause) => {
      if (this.#worker === worker && isSuperseded(cause)) this.#owner.superseded(cause.message)
      this.#crashed(worker, cause)
    })
    worker.on('exit', () => {
      this.#running.delete(worker)
      this.#crashed(worker, new Error('its thread exited'))
    })
    // The thread must not keep the process alive; the timers of pending calls do.
    worker.unref()
    this.#starts++
    return worker
  }

  #receive(reply: ThreadReply): void {
    if ('moved' in reply) this.#owner.moved(reply.moved)
    else if ('superseded' in reply) this.#owner.superseded(reply.superseded)
    else this.#settle(reply)
  }

  #settle(reply: Settling): void {
    const waiting = this.#pending.get(reply.id)
    this.#pending.delete(reply.id)
    this.#patient.delete(reply.id)
    if (waiting === undefined || waiting === null) return
    clearTimeout(waiting.timer)
    if ('value' in reply) waiting.resolve(reply)
    else if ('unavailable' in reply) {
      waiting.reject(new StoreUnavailable(reply.unavailable, { fault: reply.fault }))
    } else waiting.reject(new Error(reply.failed))
  }

  /** The next call starts another one. */
  #crashed(worker: Worker, cause: unknown): void {
    if (this.#worker !== worker) return
    this.#worker = null
    this.#rejectAll(new StoreUnavailable(messageOf(cause), { cause, code: codeIn(cause) }))
  }

  #rejectAll(cause: StoreUnavailable): void {
    for (const waiting of this.#pending.values()) {
      if (waiting === null) continue
      clearTimeout(waiting.timer)
      waiting.reject(cause)
    }
    this.#pending.clear()
    this.#patient.clear()
  }
}

function hasStored({ stored }: Result): boolean {
  return stored
}

/** An error from a thread is a structured clone: only its name identifies the class. */
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
