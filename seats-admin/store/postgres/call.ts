/** One call of the store and its timeout. */

import { monotonic } from '../monotonic.ts'
import { notWithin } from '../unavailable.ts'

export class Call {
  /** By the monotonic clock, in ms. */
  readonly startedAt: number
  /** Milliseconds. */
  readonly timeout: number
  /** Its transaction has begun, and may be committed even if the call fails. */
  hasBegun = false
  /** How long earlier attempts at the same write took, in ms. */
  waited = 0
  #cut: (() => void) | null = null

  constructor(timeout: number) {
    this.startedAt = monotonic()
    this.timeout = timeout
  }

  /** Milliseconds since the start. */
  get elapsed(): number {
    return monotonic() - this.startedAt
  }

  get expired(): boolean {
    return this.elapsed >= this.timeout
  }

  /** Sets the function that aborts the current operation when the call expires; null clears it. */
  onExpire(cut: (() => void) | null): void {
    this.#cut = cut
  }

  expire(): void {
    this.#cut?.()
  }
}

/** Rejects with a StoreUnavailable after `timeout` ms and aborts the current operation. */
export function withTimeout<V>(timeout: number, work: (call: Call) => Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    const call = new Call(timeout)
    let settled = false
    const expire = () => {
      if (settled) return
      reject(notWithin(timeout))
      call.expire()
    }
    // If this process was busy, the response may already be in the socket: it is read first.
    const timer = setTimeout(() => setImmediate(expire), timeout)
    work(call)
      .then(resolve, reject)
      .finally(() => {
        settled = true
        clearTimeout(timer)
      })
  })
}
