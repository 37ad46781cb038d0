/** Time as the protocol uses it. It is always passed in, so that a simulation can control it. */

import { performance } from 'node:perf_hooks'

export interface Clock {
  /** Monotonic milliseconds, with the same origin in all processes of this machine. */
  now(): number
  /** Wall-clock milliseconds, which may step. They only ever shorten a lease. */
  wall(): number
  /** Runs `run` once after `ms`; the result cancels it. Does not keep the process alive. */
  after(ms: number, run: () => void): () => void
}

/** Settles as the work does, or rejects with the message `late` if the work takes longer than `ms`. */
export function withinTime<V>(
  clock: Pick<Clock, 'after'>,
  ms: number,
  work: Promise<V>,
  late: string,
): Promise<V> {
  return new Promise((resolve, reject) => {
    const cancel = clock.after(ms, () => reject(new Error(late)))
    work.finally(cancel).then(resolve, reject)
  })
}

/**
 * `performance.now()` is cheaper than `hrtime`, but its origin differs by process. The offset is constant.
 */
const ZERO = Number(process.hrtime.bigint()) / 1e6 - performance.now()

export const systemClock: Clock = {
  now: () => performance.now() + ZERO,
  wall: Date.now,
  after(ms, run) {
    const timer = setTimeout(run, ms)
    timer.unref()
    return () => clearTimeout(timer)
  },
}
