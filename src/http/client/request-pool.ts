/**
 * The connections to one target, over HTTP/1.1 or HTTP/2, and the requests that wait for them. A connection
 * of HTTP/1.1 carries one request at a time, a connection of HTTP/2 many. The pool opens connections up to a
 * limit; further requests wait, tenants and callers in turn. So do requests whose bodies are still arriving,
 * beyond a limit of their own. A body needs a connection of HTTP/2 whose window has room, as long as there is
 * one or another may be opened.
 *
 * undici is not used: it accepts some malformed responses, and a whole request costs half as much again with
 * it (`npm run bench -- --compare`, without TLS: requests of this client take 0.64 of the CPU, quartiles
 * 0.635 to 0.696).
 */

import { performance } from 'node:perf_hooks'
import { Http2Connection, MAX_STREAMS } from './http2-client-connection.ts'
import type { ConnectionOwner, ConnectionSettings, PooledConnection } from './pooled-connection.ts'
import { type EvictionPool, type RequestSlot, SlotEviction } from './slot-eviction.ts'
import { FairQueue, type QueuedRequest } from './slot-sharing.ts'
import { UpstreamConnection } from './upstream-connection.ts'
import {
  ClientClosed,
  ConnectionLost,
  Evicted,
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from './upstream-request.ts'

export interface PoolSettings extends ConnectionSettings {
  /** The protocol of the connections is HTTP/2. */
  readonly http2: boolean
  /** The maximum number of open connections. */
  readonly connections: number
  /** The maximum number of requests whose bodies are still arriving, as their clients may be slow. */
  readonly uploads: number
  /** Milliseconds that a request waits before the pool evicts a request of an owner with more slots. */
  readonly evictionDelay: number
}

/** Milliseconds between two checks for idle timeouts and dead connections. */
const SWEEP_INTERVAL = 1000

export class RequestPool implements ConnectionOwner, EvictionPool {
  /** `close` or `destroy` was called. */
  closed = false
  #destroyed = false
  readonly #settings: PoolSettings
  /** Open or connecting, busy or idle. */
  readonly #all = new Set<PooledConnection>()
  readonly #connecting = new Set<PooledConnection>()
  /**
   * Connections that take no further request. They do not count: a replacement need not wait for their last.
   */
  readonly #draining = new Set<PooledConnection>()
  /**
   * Those that had room when they were listed. The last is taken first, so that the others reach their idle
   * timeout. One without room leaves the list when it is found there.
   */
  readonly #free: PooledConnection[] = []
  readonly waitingRequests = new FairQueue()
  /** Requests whose bodies are still arriving, including those that wait for a connection. */
  #uploads = 0
  readonly waitingUploads = new FairQueue()
  readonly #eviction: SlotEviction
  #sweeping: NodeJS.Timeout | null = null
  #closed: (() => void) | null = null

  constructor(settings: PoolSettings) {
    this.#settings = settings
    this.#eviction = new SlotEviction(this, settings.evictionDelay)
  }

  /** Sends the request as soon as a connection and, for an upload, a slot is free. */
  dispatch(request: UpstreamRequest, receiver: ResponseReceiver): void {
    const uploads = request.body !== null && request.body.complete !== true
    if (uploads) {
      if (this.uploadsFull) {
        this.waitingUploads.add({ request, receiver, uploads: false, since: performance.now() })
        return this.#eviction.start()
      }
      this.#uploads++
    }
    const isAdmitted = !this.#eviction.isContended || this.#eviction.admits(receiver.owner)
    const connection = isAdmitted ? this.#freeConnection(request.body !== null) : null
    if (connection !== null) return connection.send(request, receiver, uploads)
    this.waitingRequests.add({ request, receiver, uploads, since: performance.now() })
    this.#open()
    if (this.full || !isAdmitted) this.#eviction.requestWaits(receiver.owner)
  }

  /** No upload slot is free. */
  get uploadsFull(): boolean {
    return this.#uploads >= this.#settings.uploads
  }

  get full(): boolean {
    return this.#all.size >= this.#settings.connections
  }

  get capacity(): number {
    let capacity = (this.#settings.connections - this.#all.size) * this.#streams
    for (const each of this.#all) capacity += each.capacity
    return capacity
  }

  get room(): number {
    let room = (this.#settings.connections - this.#all.size + this.#connecting.size) * this.#streams
    for (const each of this.#all) room += each.room
    return room
  }

  /** How many requests a target of HTTP/2 permits is known when its connection is open. */
  get #streams(): number {
    const { http2, streams = MAX_STREAMS } = this.#settings
    return http2 ? streams : 1
  }

  *slots(uploads: boolean): Generator<RequestSlot> {
    for (const connection of this.#all) yield* connection.slots
    if (uploads) for (const connection of this.#draining) yield* connection.slots
  }

  /** The owner of each request in flight or waiting. */
  *owners(): Generator<RequestOwner> {
    for (const { receiver } of this.slots(true)) if (receiver !== null) yield receiver.owner
    for (const queue of [this.waitingRequests, this.waitingUploads])
      for (const { receiver } of queue) yield receiver.owner
  }

  /**
   * Evicts a request of an owner that has more requests here than `owner`. The first choice is the newest
   * waiting request, as nothing of it was sent. Otherwise it is the slowest upload or, for a request that
   * arrived completely, the slowest one that waits for its client.
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
   * Removes a waiting request whose client has left, so that no other request is evicted for it. A request
   * for which a connection is being opened stays, for at most `connectTimeout`: it learns whether the target
   * is reachable.
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

  connectionReady(connection: PooledConnection): void {
    this.#connecting.delete(connection)
    this.#sweeping ??= setInterval(() => this.#sweep(), SWEEP_INTERVAL).unref()
    this.#serveOn(connection)
    // A target of HTTP/2 may permit fewer requests than expected.
    this.#open()
    if (this.closed && connection.isIdle) return connection.close(new ClientClosed('closed'))
    if (connection.isListed || !connection.hasRoom) return
    connection.isListed = true
    this.#free.push(connection)
  }

  #serveOn(connection: PooledConnection, withoutWindow = this.full): void {
    while (connection.hasRoom && (connection.hasWindow || withoutWindow)) {
      const next = this.#nextWaiting()
      if (next === undefined) return
      connection.send(next.request, next.receiver, next.uploads)
    }
  }

  #nextWaiting(): QueuedRequest | undefined {
    const { waitingRequests } = this
    if (!this.#eviction.isContended || waitingRequests.size === 0) return waitingRequests.take()
    return waitingRequests.takeAdmitted(this.#eviction.admission)
  }

  serve(): void {
    for (const connection of [...this.#free]) this.#serveOn(connection)
    this.#open()
  }

  connectionDraining(connection: PooledConnection): void {
    this.#all.delete(connection)
    this.#draining.add(connection)
    this.#open()
  }

  connectionClosed(connection: PooledConnection, error: Error): void {
    this.#all.delete(connection)
    this.#draining.delete(connection)
    if (connection.isListed) this.#free.splice(this.#free.indexOf(connection), 1)
    if (this.#connecting.delete(connection)) this.#couldNotOpen(error)
    else this.#open()
    if (this.closed && this.#isEmpty) {
      this.#stopSweeping()
      this.#closed?.()
    }
  }

  #couldNotOpen(error: Error): void {
    if (this.#settings.http2) {
      // All that wait would have been sent on it. An open connection serves them, whatever its window.
      if (this.#all.size === this.#connecting.size) return this.#failWaiting(this.waitingRequests, error)
      for (const connection of [...this.#free]) this.#serveOn(connection, true)
      return
    }
    // The connection was opened for the request that waits longest.
    const waiting = this.#nextWaiting()
    if (waiting !== undefined) this.#fail(waiting, error)
    this.#open()
  }

  uploadFinished(): void {
    this.#uploads--
    // A body that is complete by now takes no slot.
    while (this.waitingUploads.size > 0 && !this.uploadsFull) {
      const next = this.waitingUploads.takeFewest(this.#eviction.uploadSlots)
      if (next === undefined) return
      this.dispatch(next.request, next.receiver)
    }
  }

  /** The body of a request is complete. If the request waits for an upload slot, it needs none any more. */
  bodyReceived(receiver: ResponseReceiver): void {
    const waiting = this.waitingUploads.remove(receiver)
    if (waiting !== undefined) this.dispatch(waiting.request, receiver)
  }

  requestReturned(request: UpstreamRequest, receiver: ResponseReceiver): void {
    if (this.#destroyed) receiver.failed(destroyed())
    else this.dispatch(request, receiver)
  }

  /** Closes the connections that reached their idle timeout, or are dead. */
  #sweep(): void {
    const now = performance.now()
    for (const connection of [...this.#all, ...this.#draining])
      if (connection.isIdle && connection.expiresAt <= now) connection.close(idleTimeoutError())
      else connection.checkAlive(now)
    if (this.#isEmpty) this.#stopSweeping()
  }

  /** Resolves when the requests in flight have ended. */
  async close(): Promise<void> {
    this.closed = true
    for (const connection of [...this.#all])
      if (connection.isIdle) connection.close(new ClientClosed('closed'))
    if (this.#isEmpty) return
    await new Promise<void>((resolve) => {
      this.#closed = resolve
    })
  }

  /** Ends all requests at once. */
  async destroy(): Promise<void> {
    this.closed = true
    this.#destroyed = true
    this.#eviction.stop()
    this.#stopSweeping()
    const error = destroyed()
    for (const queue of [this.waitingUploads, this.waitingRequests]) this.#failWaiting(queue, error)
    for (const connection of [...this.#all, ...this.#draining]) connection.close(error)
  }

  /** @param hasBody one whose window has room comes first */
  #freeConnection(hasBody: boolean): PooledConnection | null {
    const now = performance.now()
    for (let last = this.#free.at(-1); last !== undefined; last = this.#free.at(-1)) {
      if (last.hasRoom && last.expiresAt > now)
        return last.hasWindow || !hasBody ? last : this.#freeWindow(last, now)
      this.#free.pop()
      last.isListed = false
      if (last.hasRoom) last.close(idleTimeoutError())
    }
    return null
  }

  /** Another connection, or null where one may be opened. */
  #freeWindow(last: PooledConnection, now: number): PooledConnection | null {
    const another = this.#free.findLast((each) => each.hasRoom && each.hasWindow && each.expiresAt > now)
    return another ?? (this.full ? last : null)
  }

  #open(): void {
    const { connections, http2 } = this.#settings
    // During contention one at a time: most of the waiting requests may be held back.
    if (this.#eviction.isContended && !this.waitingRequests.hasAdmitted(this.#eviction.admission)) return
    while (
      this.#connecting.size * this.#streams < this.waitingRequests.size &&
      this.#all.size < connections
    ) {
      const connection = http2
        ? new Http2Connection(this.#settings, this)
        : new UpstreamConnection(this.#settings, this)
      this.#all.add(connection)
      this.#connecting.add(connection)
      if (this.#eviction.isContended) return
    }
  }

  /** Those that wait from now on are none of them. */
  #failWaiting(queue: FairQueue, error: Error): void {
    const failed: QueuedRequest[] = []
    for (let each = queue.take(); each !== undefined; each = queue.take()) failed.push(each)
    for (const each of failed) this.#fail(each, error)
  }

  #fail(waiting: QueuedRequest, error: Error): void {
    if (waiting.uploads) this.uploadFinished()
    waiting.receiver.failed(error)
  }

  get #isEmpty(): boolean {
    return this.#all.size + this.#draining.size === 0
  }

  #stopSweeping(): void {
    if (this.#sweeping !== null) clearInterval(this.#sweeping)
    this.#sweeping = null
  }
}

function destroyed(): ClientClosed {
  return new ClientClosed('the gateway closes its connections')
}

function idleTimeoutError(): ConnectionLost {
  return new ConnectionLost('the connection reached its idle timeout', '', true)
}
