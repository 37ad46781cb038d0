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

/** The store is unreachable, locked by another program, or too slow. */
export class StoreUnavailable extends Error {
  /** Null when the call itself may be the cause, or the fault is reported otherwise. */
  readonly fault: StoreFault | null

  constructor(message: string, options: ErrorOptions & { readonly fault?: StoreFault | null } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.fault = options.fault ?? null
  }
}
