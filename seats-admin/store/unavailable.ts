/** The error of all drivers when the store is unavailable. */

/** The fault of the store, shown by `/readyz`. */
export type StoreFault =
  | 'corrupt'
  | 'io_error'
  | 'disk_full'
  | 'locked'
  | 'denied'
  | 'read_only'
  | 'schema'
  | 'timeout'
  | 'overloaded'
  | 'unreachable'

interface Options extends ErrorOptions {
  readonly fault?: StoreFault | null
  readonly code?: string | null
}

/** The store is unreachable, locked by another program, or too slow. */
export class StoreUnavailable extends Error {
  /** Null when the call itself may be the cause, or the fault is reported otherwise. */
  readonly fault: StoreFault | null
  /**
   * What a message to an operator depends on: an errno (`ECONNREFUSED`), a SQLSTATE (`28P01`), SQLite's name
   * of a result code (`SQLITE_FULL`) or a {@link StoreCode}; null for other causes.
   */
  readonly code: string | null

  constructor(message: string, options: Options = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.fault = options.fault ?? null
    this.code = options.code ?? null
  }
}

/** The number of calls that may wait for the store, of a kind of work. */
export const MAX_WAITING = 10_000

export function overloaded(): StoreUnavailable {
  return new StoreUnavailable(`the store has ${MAX_WAITING} pending calls`, { fault: 'overloaded' })
}

/** @param timeout ms */
export function notWithin(timeout: number): StoreUnavailable {
  return new StoreUnavailable(`the store did not respond within ${timeout} ms`, { fault: 'timeout' })
}

export const CLOSED = 'the store is closed'

/** Causes that neither the system nor a database has a code for. */
export type StoreCode =
  | 'DAMAGED'
  | 'ENCODING'
  | 'GATEWAY'
  | 'IN_USE'
  | 'NEWER_SCHEMA'
  | 'NOT_A_STORE'
  | 'NO_PASSWORD'
  | 'NO_TLS'
  | 'OLD_SERVER'
  | 'SHARED_SESSIONS'
  | 'STANDBY'
  | 'TIMEOUT'

/** A file or database that can't be this program's store. */
export class UnusableStore extends Error {
  readonly code: StoreCode

  constructor(code: StoreCode, message: string) {
    super(message)
    this.code = code
  }
}

/** @returns the code of an error of the system, of a database or of ours; null without one */
export function codeIn(cause: unknown): string | null {
  // One error for each address of a host.
  if (cause instanceof AggregateError) return codeIn(cause.errors[0])
  return cause instanceof Error && 'code' in cause && typeof cause.code === 'string' ? cause.code : null
}

/** An AggregateError has one error for each address of a host. */
export function messageOf(cause: unknown): string {
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join('; ')
  return cause instanceof Error ? cause.message : String(cause)
}
