/** One call of the store, and its time. Used by the pools and by every method of the store. */

import { monotonic } from '../clock.ts'
import { StoreUnavailable } from '../store.ts'

export class Call {
  readonly asked: number
  /** Milliseconds that it has in all. */
  readonly timeout: number
  readonly deadline: number
  #cut: (() => void) | null = null

  constructor(timeout: number) {
    this.asked = monotonic()
    this.timeout = timeout
    this.deadline = this.asked + timeout
  }

  /** Milliseconds since it was made. */
  get waited(): number {
    return monotonic() - this.asked
  }

  get late(): boolean {
    return monotonic() >= this.deadline
  }

  /** What is to be cut off, if the time is up while it is under way; null: nothing any more. */
  underWay(cut: (() => void) | null): void {
    this.#cut = cut
  }

  expire(): void {
    this.#cut?.()
  }
}

/** Rejects with a StoreUnavailable after `timeout` ms whatever the work does, and cuts off what it is at. */
export function within<V>(timeout: number, work: (call: Call) => Promise<V>): Promise<V> {
  return new Promise((resolve, reject) => {
    const call = new Call(timeout)
    let settled = false
    const expire = () => {
      if (settled) return
      reject(new StoreUnavailable(`the store did not answer within ${timeout} ms`, { fault: 'timeout' }))
      call.expire()
    }
    // Where this process was busy, the answer may lie in the socket already: it is looked at first.
    const timer = setTimeout(() => setImmediate(expire), timeout)
    work(call)
      .then(resolve, reject)
      .finally(() => {
        settled = true
        clearTimeout(timer)
      })
  })
}
