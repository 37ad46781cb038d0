/** Time as the protocol needs it. An argument everywhere, so that a simulation can turn the hands. */

import { performance } from 'node:perf_hooks'

export interface Clock {
  /** Milliseconds that never step back, the same for all processes of this machine. */
  now(): number
  /** Milliseconds of the wall clock, which may step. Only ever makes a lease shorter. */
  wall(): number
  /** Runs `run` after `ms`, once; the result calls it off. Doesn't keep the process alive. */
  after(ms: number, run: () => void): () => void
}

/** `performance.now()` is cheaper than `hrtime` and begins at another zero in each process: the difference is fixed. */
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
