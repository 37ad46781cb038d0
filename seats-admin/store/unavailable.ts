/** That the store can't be asked, and why, as all drivers say it. */

/** What is wrong with the store, in a word that `/readyz` shows. */
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

/** The store can't be asked, is locked by another program, or took too long. */
export class StoreUnavailable extends Error {
  /** Null where it may be the call's own, or is told otherwise. */
  readonly fault: StoreFault | null

  constructor(message: string, options: ErrorOptions & { readonly fault?: StoreFault | null } = {}) {
    super(message, options)
    this.name = 'StoreUnavailable'
    this.fault = options.fault ?? null
  }
}
