/**
 * How long the event loop of this thread is held in a row, as CPU time of the thread: other load on the machine does not count. It
 * is compared with the CPU time of a fixed piece of work, so that a slow machine may take longer.
 */

import type { Test } from 'tap'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Received, Sent } from './client-thread.ts'

/** Milliseconds of CPU time of this thread. */
function cpu(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The longest stretch in ms between two turns of the event loop until `work` ends, and its result. */
export async function longestStall<V>(work: () => Promise<V>): Promise<{ stall: number; result: V }> {
  let [last, stall, isOver] = [cpu(), 0, false]
  const tick = () => {
    const now = cpu()
    stall = Math.max(stall, now - last)
    last = now
    if (!isOver) setTimeout(tick, 1)
  }
  tick()
  const result = await work()
  isOver = true
  tick()
  return { stall, result }
}

/** A text of 1 MiB, which `JSON.parse` reads in some 6 ms on the machine by which the limit is set. */
const TEXT = JSON.stringify(Array.from({ length: 30_000 }, (_, at) => ({ a: `name ${at}`, b: [at] })))
const USUAL = 10

/** How many times as long as usual this machine takes, at least 1. */
export function slowness(): number {
  const times = Array.from({ length: 7 }, () => {
    const from = cpu()
    JSON.parse(TEXT)
    return cpu() - from
  })
  return Math.max(1, (times.sort((a, b) => a - b)[3] ?? 0) / USUAL)
}

export class MeasuredClient {
  readonly #worker: Worker

  constructor(t: Test) {
    this.#worker = new Worker(new URL('./client-thread.ts', import.meta.url), { execArgv: [] })
    t.teardown(() => this.#worker.terminate())
  }

  /** The answer, and the longest stall in ms. */
  async send(sent: Sent): Promise<Received & { readonly stall: number }> {
    const { stall, result } = await longestStall(async () => {
      this.#worker.postMessage(sent)
      const [received] = await once(this.#worker, 'message')
      return received as Received
    })
    return { ...result, stall }
  }
}
