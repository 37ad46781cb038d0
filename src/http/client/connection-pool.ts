/**
 * The connection pool of one target, TCP or TLS. A connection carries one request at a time and is reused. The pool
 * opens connections up to a limit; further requests wait in a queue.
 *
 * undici is not used: it accepts some malformed responses, and a whole request costs half as much again with it (`npm
 * run bench -- --compare`, without TLS: requests of this client take 0.64 of the CPU, quartiles 0.635 to 0.696).
 */

import { performance } from 'node:perf_hooks'
import {
  ClientClosed,
  ConnectionLost,
  Evicted,
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from './upstream-request.ts'
import {
  UpstreamConnection,
  type UpstreamConnectionOwner,
  type UpstreamConnectionSettings,
} from './upstream-connection.ts'
import { type EvictionPool, UploadEviction } from './upload-eviction.ts'
import { FairQueue, type QueuedRequest } from './fair-queue.ts'
import type { RequestPool } from './request-pool.ts'
import { type SheddingPool, SlowClientShedding } from './slow-client-shedding.ts'

export interface PoolSettings extends UpstreamConnectionSettings {
  /** The maximum number of open connections. */
  readonly connections: number
  /** The maximum number of requests whose bodies are still arriving, as their clients may be slow. */
  readonly uploads: number
  /** Milliseconds that a request waits before the pool evicts a request of an owner with more slots. */
  readonly evictionDelay: number
}

/** Milliseconds between two checks for idle timeouts. */
const SWEEP_INTERVAL = 1000

export class ConnectionPool implements RequestPool, UpstreamConnectionOwner, SheddingPool, EvictionPool {
  closed = false
  readonly #settings: PoolSettings
  /** Open or connecting, busy or idle. */
  readonly #all = new Set<UpstreamConnection>()
  readonly #connecting = new Set<UpstreamConnection>()
  /** Last used at the end. The last is taken first, so that the others reach their idle timeout. */
  readonly #idle: UpstreamConnection[] = []
  readonly waitingRequests = new FairQueue()
  /** Requests whose bodies are still arriving, including those that wait for a connection. */
  #uploads = 0
  readonly waitingUploads = new FairQueue()
  readonly #shedding: SlowClientShedding = new SlowClientShedding(this)
  readonly #eviction: UploadEviction
  #sweeping: NodeJS.Timeout | null = null
  #closed: (() => void) | null = null

  constructor(settings: PoolSettings) {
    this.#settings = settings
    this.#eviction = new UploadEviction(this, settings.evictionDelay)
  }

  dispatch(request: UpstreamRequest, receiver: ResponseReceiver): void {
    const uploads = request.body !== null && request.body.complete !== true
    if (uploads) {
      if (this.uploadsFull) {
        this.waitingUploads.add({ request, receiver, uploads: false, since: performance.now() })
        return this.#startEvictionTimers()
      }
      this.#uploads++
    }
    const connection = this.#takeIdle()
    if (connection !== null) return connection.send(request, receiver, uploads)
    this.waitingRequests.add({ request, receiver, uploads, since: performance.now() })
    this.#open()
    if (this.full) this.#startEvictionTimers()
  }

  #startEvictionTimers(): void {
    this.#shedding.start()
    this.#eviction.start()
  }

  /** No upload slot is free. */
  get uploadsFull(): boolean {
    return this.#uploads >= this.#settings.uploads
  }

  get full(): boolean {
    return this.#all.size === this.#settings.connections
  }

  /**
   * Evicts a request of an owner that has more requests here than `owner`. The first choice is the newest waiting
   * request, of which nothing was sent. Otherwise it is the slowest upload or, for a request that arrived completely,
   * the slowest one that waits for its client.
   *
   * @returns whether a request was evicted
   */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const waiting =
      this.waitingUploads.takeFromGreediest(owner) ??
      (uploads ? undefined : this.waitingRequests.takeFromGreediest(owner))
    if (waiting === undefined) return this.#eviction.evictFor(owner, uploads)
    this.#fail(waiting, new Evicted())
    return true
  }

  /**
   * Removes a waiting request whose client has left, so that no other request is evicted for it. A request for which a
   * connection is being opened stays, for at most `connectTimeout`: it learns whether the target is reachable.
   *
   * @returns whether the request was waiting; its receiver gets no further calls
   */
  cancel(receiver: ResponseReceiver): boolean {
    if (this.waitingUploads.remove(receiver) !== undefined) return true
    if (this.waitingRequests.size <= this.#connecting.size) return false
    const waiting = this.waitingRequests.remove(receiver)
    if (waiting?.uploads === true) this.uploadFinished()
    return waiting !== undefined
  }

  connectionReady(connection: UpstreamConnection): void {
    this.#connecting.delete(connection)
    const next = this.waitingRequests.take()
    if (next !== undefined) return connection.send(next.request, next.receiver, next.uploads)
    if (this.closed) return connection.close(new ClientClosed('closed'))
    this.#idle.push(connection)
    this.#sweeping ??= setInterval(sweep, SWEEP_INTERVAL, this).unref()
  }

  connectionClosed(connection: UpstreamConnection, error: Error): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    // The connection was opened for the request that waits longest.
    if (this.#connecting.delete(connection)) this.#fail(this.waitingRequests.take(), error)
    this.#open()
    this.#resolveIfClosed()
  }

  uploadFinished(): void {
    this.#uploads--
    if (this.waitingUploads.size === 0) return
    const next = this.waitingUploads.takeFewest(this.#eviction.uploadUsage)
    if (next !== undefined) this.dispatch(next.request, next.receiver)
  }

  get slots(): Iterable<UpstreamConnection> {
    return this.#all
  }

  get waiting(): number {
    return this.waitingRequests.size + this.waitingUploads.size
  }

  requestReturned(request: UpstreamRequest, receiver: ResponseReceiver): void {
    this.dispatch(request, receiver)
  }

  /** Closes the connections that reached their idle timeout. */
  sweep(): void {
    const now = performance.now()
    for (const connection of this.#idle.filter(({ expiresAt }) => expiresAt <= now))
      connection.close(idleTimeoutError())
    if (this.#idle.length === 0) this.#stopSweeping()
  }

  async close(): Promise<void> {
    this.closed = true
    this.#stopSweeping()
    for (const connection of [...this.#idle]) connection.close(new ClientClosed('closed'))
    if (this.#all.size === 0) return
    await new Promise<void>((resolve) => {
      this.#closed = resolve
    })
  }

  async destroy(): Promise<void> {
    this.closed = true
    this.#shedding.stop()
    this.#eviction.stop()
    this.#stopSweeping()
    const error = new ClientClosed('the gateway closes its connections')
    for (const queue of [this.waitingUploads, this.waitingRequests])
      for (let each = queue.take(); each !== undefined; each = queue.take()) each.receiver.failed(error)
    for (const connection of [...this.#all]) connection.close(error)
  }

  #takeIdle(): UpstreamConnection | null {
    const now = performance.now()
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.expiresAt > now) return connection
      connection.close(idleTimeoutError())
    }
    return null
  }

  #open(): void {
    while (this.#connecting.size < this.waitingRequests.size && this.#all.size < this.#settings.connections) {
      const connection = new UpstreamConnection(this.#settings, this)
      this.#all.add(connection)
      this.#connecting.add(connection)
    }
  }

  #fail(waiting: QueuedRequest | undefined, error: Error): void {
    if (waiting === undefined) return
    if (waiting.uploads) this.uploadFinished()
    waiting.receiver.failed(error)
  }

  #resolveIfClosed(): void {
    if (this.closed && this.#all.size === 0) this.#closed?.()
  }

  #stopSweeping(): void {
    if (this.#sweeping !== null) clearInterval(this.#sweeping)
    this.#sweeping = null
  }
}

function sweep(client: ConnectionPool): void {
  client.sweep()
}

function idleTimeoutError(): ConnectionLost {
  return new ConnectionLost('the connection reached its idle timeout', '', true)
}
