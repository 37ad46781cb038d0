/** What the main thread and the store's threads say to each other. */

import type { StoreFault } from '../store.ts'
import type { StoreFiles } from './file.ts'

export type Role = 'reader' | 'lister' | 'writer'

/** What a thread is started with. */
export interface ThreadData {
  readonly role: Role
  readonly path: string
  /** Milliseconds that a statement may wait for another program's lock. */
  readonly busyTimeout: number
  /** This thread opens the store for all. `first`: make the file if there is none. Both: check it. */
  readonly opening: 'first' | 'again' | null
  /** Null: not for a gateway, so whichever gateway owns the store. */
  readonly owner: Owner | null
  /** Opening again: what was open before. Else what the thread must find; null at the first opening only. */
  readonly files: StoreFiles | null
}

/** On whose behalf a gateway's process opens the store. See `ownership.ts`. */
export interface Owner {
  /** The identity of the lock file that the gateway holds. */
  readonly lock: string
  /** Makes the gateway the owner; else it has to be already. For one process of the gateway. */
  readonly takes: boolean
}

/** What the thread that opens the store for all found. */
export interface Opened {
  readonly files: StoreFiles
  /** No other gateway, nor a worker of one, may have a lease on the store. */
  readonly alone: boolean
}

export interface Call {
  readonly id: number
  readonly method: string
  readonly args: readonly unknown[]
  /** Times by the clock of `../clock.ts`: when the caller asked, and when it has given up. */
  readonly asked: number
  readonly deadline: number
}

/**
 * `unavailable`: why the store can't do it now. `failed`: a fault of ours. `moved`: the thread has not, or no longer,
 * the file that is there, answers nothing any more, and says why. `superseded`: another gateway owns the store.
 */
export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly unavailable: string; readonly fault: StoreFault | null }
  | { readonly id: number; readonly failed: string }
  | { readonly moved: string }
  | { readonly superseded: string }

/** The call that a thread is busy with, as its operations see it. */
export interface Running {
  /** Milliseconds since it was made. */
  waited(): number
  /** Throws once its caller has given up. To be called between steps of a long operation. */
  timely(): void
}

/** The methods of a thread, by name. */
export type Operations = { [method: string]: (...args: never[]) => unknown }

/** Answered, with what was {@link Opened}, as soon as the database is open. */
export const READY = 'ready'
/** Ends the thread once all calls before it have been answered; is not answered itself. */
export const CLOSE = 'close'
