/** Sends requests from another thread, and measures how long this one, the gateway's, is held by each. */

import type { Test } from 'tap'
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { longestStall } from '../../support/stalls.ts'
import type { Received, Sent } from './client-thread.ts'

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
