/** Sends requests from another thread, and measures how long this one, the gateway's, is held by each. */

import type { Test } from 'tap'
import { Worker } from 'node:worker_threads'
import { leastStall } from '../../support/stalls.ts'
import type { Received, Sent } from './client-thread.ts'

export class MeasuredClient {
  readonly #worker: Worker

  constructor(t: Test) {
    this.#worker = new Worker(new URL('./client-thread.ts', import.meta.url), { execArgv: [] })
    t.teardown(() => this.#worker.terminate())
  }

  /**
   * The answer, and the longest stall in ms.
   *
   * @param count the same request so many times at once; the last answer counts
   * @param undone what another try begins with
   */
  async measure(sent: Sent, count: number, undone: Sent | null) {
    const undo = async () => {
      const status = undone === null ? 200 : (await this.send(undone)).status
      if (status !== 200) throw new Error(`what undoes the request is answered with ${status}`)
    }
    const { stall, isShort, result } = await leastStall(() => this.send(sent, count), undo)
    return { ...result, stall, isShort }
  }

  send(sent: Sent, count = 1): Promise<Received> {
    const { promise, resolve } = Promise.withResolvers<Received>()
    let missing = count
    const receive = (received: Received) => {
      if (--missing > 0) return
      this.#worker.off('message', receive)
      resolve(received)
    }
    this.#worker.on('message', receive)
    for (let each = 0; each < count; each++) this.#worker.postMessage(sent)
    return promise
  }
}
