/**
 * The HTTP/2 connections of one target. A connection carries many requests. The pool opens another one when those it has
 * are full, up to a limit; further requests wait, tenants and callers in turn.
 */

import { performance } from 'node:perf_hooks'
import { type EvictionPool, UploadEviction } from './upload-eviction.ts'
import { FairQueue, type QueuedRequest } from './fair-queue.ts'
import { Http2Connection, type Http2ConnectionOwner, MAX_STREAMS } from './http2-client-connection.ts'
import type { PoolSettings } from './connection-pool.ts'
import type { RequestPool } from './request-pool.ts'
import type { RequestSlot } from './request-slot.ts'
import { type SheddingPool, SlowClientShedding } from './slow-client-shedding.ts'
import {
  ClientClosed,
  ConnectionLost,
  Evicted,
  type RequestOwner,
  type ResponseReceiver,
  type UpstreamRequest,
} from './upstream-request.ts'

/** Milliseconds between two checks for idle timeouts and dead connections. */
const SWEEP_INTERVAL = 1000

export class Http2Pool implements RequestPool, Http2ConnectionOwner, SheddingPool, EvictionPool {
  closed = false
  #destroyed = false
  readonly waitingRequests = new FairQueue()
  readonly waitingUploads = new FairQueue()
  readonly #settings: PoolSettings
  /** Open or connecting. The oldest is used first, so that the others reach their idle timeout. */
  readonly #all = new Set<Http2Connection>()
  readonly #connecting = new Set<Http2Connection>()
  /** They take no further request, and do not count among the limit: a replacement must not wait for their last one. */
  readonly #draining = new Set<Http2Connection>()
  /** Requests whose bodies are still arriving, including those that wait for a stream. */
  #uploads = 0
  readonly #shedding: SlowClientShedding = new SlowClientShedding(this)
  readonly #eviction: UploadEviction
  #sweeping: NodeJS.Timeout | null = null
  #closed: (() => void) | null = null

  /** `uploads` of the settings is a number of requests. */
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
    const connection = this.#connectionWithRoom()
    if (connection !== null) return connection.send(request, receiver, uploads)
    this.waitingRequests.add({ request, receiver, uploads, since: performance.now() })
    this.#open()
    if (this.full) this.#startEvictionTimers()
  }

  #startEvictionTimers(): void {
    this.#shedding.start()
    this.#eviction.start()
  }

  get uploadsFull(): boolean {
    return this.#uploads >= this.#settings.uploads
  }

  get full(): boolean {
    return this.#all.size >= this.#settings.connections
  }

  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    const waiting =
      this.waitingUploads.takeFromGreediest(owner) ??
      (uploads ? undefined : this.waitingRequests.takeFromGreediest(owner))
    if (waiting === undefined) return this.#eviction.evictFor(owner, uploads)
    this.#fail(waiting, new Evicted())
    return true
  }

  /** As in `ConnectionPool`: the request that a connection is opened for stays. */
  cancel(receiver: ResponseReceiver): boolean {
    if (this.waitingUploads.remove(receiver) !== undefined) return true
    if (this.waitingRequests.size <= this.#connecting.size) return false
    const waiting = this.waitingRequests.remove(receiver)
    if (waiting?.uploads === true) this.uploadFinished()
    return waiting !== undefined
  }

  connectionReady(connection: Http2Connection): void {
    this.#connecting.delete(connection)
    this.#sweeping ??= setInterval(sweep, SWEEP_INTERVAL, this).unref()
    while (connection.hasRoom) {
      const next = this.waitingRequests.take()
      if (next === undefined) break
      connection.send(next.request, next.receiver, next.uploads)
    }
    // The target may permit fewer requests than expected.
    this.#open()
    if (connection.streams.size > 0) return
    if (this.closed) connection.close(new ClientClosed('closed'))
  }

  connectionDraining(connection: Http2Connection): void {
    this.#all.delete(connection)
    this.#draining.add(connection)
    this.#open()
  }

  connectionClosed(connection: Http2Connection, error: Error): void {
    this.#all.delete(connection)
    this.#draining.delete(connection)
    if (!this.#connecting.delete(connection)) this.#open()
    // All that wait would have been sent on it. An open connection serves them in turn.
    else if (!this.#hasOpen) this.#failWaiting(error)
    this.#resolveIfClosed()
  }

  uploadFinished(): void {
    this.#uploads--
    if (this.waitingUploads.size === 0) return
    const next = this.waitingUploads.takeFewest(this.#eviction.uploadUsage)
    if (next !== undefined) this.dispatch(next.request, next.receiver)
  }

  requestReturned(request: UpstreamRequest, receiver: ResponseReceiver): void {
    if (this.#destroyed) receiver.failed(destroyed())
    else this.dispatch(request, receiver)
  }

  get slots(): Iterable<RequestSlot> {
    return this.#streams()
  }

  *#streams(): Generator<RequestSlot> {
    for (const connection of this.#all) yield* connection.streams
    for (const connection of this.#draining) yield* connection.streams
  }

  get waiting(): number {
    return this.waitingRequests.size + this.waitingUploads.size
  }

  /** Closes the connections that reached their idle timeout, or are dead. */
  sweep(): void {
    const now = performance.now()
    for (const connection of [...this.#all, ...this.#draining])
      if (connection.expiresAt <= now) connection.close(idleTimeoutError())
      else connection.checkAlive(now)
    if (this.#isEmpty) this.#stopSweeping()
  }

  async close(): Promise<void> {
    this.closed = true
    for (const connection of [...this.#all])
      if (connection.streams.size === 0 && !this.#connecting.has(connection))
        connection.close(new ClientClosed('closed'))
    if (this.#isEmpty) return
    await new Promise<void>((resolve) => {
      this.#closed = resolve
    })
  }

  async destroy(): Promise<void> {
    this.closed = true
    this.#destroyed = true
    this.#shedding.stop()
    this.#eviction.stop()
    this.#stopSweeping()
    const error = destroyed()
    this.#failWaiting(error)
    for (let each = this.waitingUploads.take(); each !== undefined; each = this.waitingUploads.take())
      each.receiver.failed(error)
    for (const connection of [...this.#all, ...this.#draining]) connection.close(error)
  }

  #connectionWithRoom(): Http2Connection | null {
    const now = performance.now()
    for (const connection of this.#all) {
      if (!connection.hasRoom) continue
      if (connection.expiresAt > now) return connection
      connection.close(idleTimeoutError())
    }
    return null
  }

  /** One connection at a time takes a hundred requests; how many it permits is known when it is open. */
  #open(): void {
    const { connections } = this.#settings
    while (this.#connecting.size * MAX_STREAMS < this.waitingRequests.size && this.#all.size < connections) {
      const connection = new Http2Connection(this.#settings, this)
      this.#all.add(connection)
      this.#connecting.add(connection)
    }
  }

  get #hasOpen(): boolean {
    return this.#all.size > this.#connecting.size
  }

  #failWaiting(error: Error): void {
    const failed: QueuedRequest[] = []
    for (let each = this.waitingRequests.take(); each !== undefined; each = this.waitingRequests.take())
      failed.push(each)
    for (const each of failed) this.#fail(each, error)
  }

  #fail(waiting: QueuedRequest, error: Error): void {
    if (waiting.uploads) this.uploadFinished()
    waiting.receiver.failed(error)
  }

  get #isEmpty(): boolean {
    return this.#all.size + this.#draining.size === 0
  }

  #resolveIfClosed(): void {
    if (!this.closed || !this.#isEmpty) return
    this.#stopSweeping()
    this.#closed?.()
  }

  #stopSweeping(): void {
    if (this.#sweeping !== null) clearInterval(this.#sweeping)
    this.#sweeping = null
  }
}

function sweep(pool: Http2Pool): void {
  pool.sweep()
}

function destroyed(): ClientClosed {
  return new ClientClosed('the gateway closes its connections')
}

function idleTimeoutError(): ConnectionLost {
  return new ConnectionLost('the connection reached its idle timeout', '', true)
}
