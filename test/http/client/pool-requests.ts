/** Requests that a test hands to a pool, and what became of them. */

import type { Readable } from 'node:stream'
import type { RequestPool } from '../../../src/http/client/request-pool.ts'
import type {
  RequestOwner,
  ResponseHead,
  ResponseReceiver,
  UpstreamRequest,
} from '../../../src/http/client/upstream-request.ts'

export class PooledRequest implements ResponseReceiver {
  readonly owner: RequestOwner
  status = 0
  error: (Error & { code?: string }) | null = null
  begun = false
  isOver = false
  /** How often a part of it was written. */
  progress = 0
  readonly over: Promise<void>
  #done = () => {}

  constructor(pool: RequestPool, owner: RequestOwner, path: string, body: Readable | null = null) {
    this.owner = owner
    this.over = new Promise((resolve) => {
      this.#done = () => {
        this.isOver = true
        resolve()
      }
    })
    const method = body === null ? 'GET' : 'POST'
    const length = body === null ? null : Infinity
    const request: UpstreamRequest = { method, path, headers: [], host: null, body, length }
    pool.dispatch(request, this)
  }

  connected(): boolean {
    this.begun = true
    return true
  }
  requestProgress(): void {
    this.progress++
  }
  responseStarted(): void {}
  head({ status }: ResponseHead): void {
    this.status = status
  }
  data(): void {}
  ended(): void {
    this.#done()
  }
  failed(error: Error): void {
    this.error = error
    this.#done()
  }
}
