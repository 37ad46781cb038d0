/** What the main thread and the store's threads say to each other. */

/** What a thread is started with. */
export interface ThreadData {
  readonly role: 'reader' | 'writer'
  readonly path: string
  /** Milliseconds that a statement may wait for another program's lock. */
  readonly busyTimeout: number
  /** The store is being opened: make the file if there is none, bring it up to date, check it. */
  readonly opening: boolean
}

export interface Call {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
  /** {@link monotonic} times: when the caller asked, and when it has given up. */
  readonly asked: number
  readonly deadline: number
}

/** `unavailable`: why the store can't do it now. `failed`: a fault of ours. */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly unavailable: string }
  | { readonly id: number; readonly failed: string }

/** The methods of a thread, by name. */
export type Operations = { [method: string]: (...args: never[]) => unknown }

/** Answered as soon as the database is open. */
export const READY = 'ready'
/** Ends the thread once all calls before it have been answered; is not answered itself. */
export const CLOSE = 'close'

/** Milliseconds of a clock that never steps and is the same in all threads of the process. */
export function monotonic(): number {
  return Number(process.hrtime.bigint()) / 1e6
}
