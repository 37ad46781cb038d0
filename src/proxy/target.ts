/**
 * The targets of an upstream: {@link Target} is one of its addresses, with its connection pool, its requests
 * in flight and its availability. {@link Balancer} selects the target of a request among the available ones.
 */

import type { Duplex } from 'node:stream'
import type { UpstreamConfig } from '../config/config.ts'
import type { Validity } from '../config/pem.ts'
import { type Address, connect, type TlsOptions, validityAt } from '../http/client/connector.ts'
import type { Suspects } from '../http/client/suspects.ts'
import type { RequestOwner, ResponseReceiver, UpstreamRequest } from '../http/client/upstream-request.ts'
import { type PoolSettings, RequestPool } from '../http/client/request-pool.ts'
import { Ledger } from '../lib/ledger.ts'
import { Agent } from '../lib/node-http.ts'
import type { Refusal } from '../model/errors.ts'
import { OutlierEjection, type OutlierEjectionOwner } from './outlier-ejection.ts'
import { busy, unavailable } from './upstream-faults.ts'
import type { EjectionSettings } from './upstream-options.ts'

/**
 * An idle connection is closed after this many ms, or as the upstream announces: earlier than common servers
 * close it.
 */
const KEEP_ALIVE = 4_000
const KEEP_ALIVE_MAX = 60_000
/** Connections of HTTP/2 with one request each, beside those that requests share. */
const ALONE_CONNECTIONS = 256

export class Target {
  readonly url: URL
  /** The name of the target in logs. */
  readonly origin: string
  readonly ejection: OutlierEjection
  /** Requests in flight and waiting. Abandoned ones count until they end. */
  pending = 0
  /** Requests among them whose body is not completely received. */
  uploads = 0
  /** The agent for WebSockets, over HTTP/1.1: each connection carries one handshake. */
  readonly agent: TargetAgent
  /** The pool of all requests, except for {@link dispatch} after a reload. */
  readonly pool: RequestPool
  /** The pool of owners whose requests may have ended an HTTP/2 connection; null before the first of them. */
  #alone: RequestPool | null = null
  readonly #suspects: Suspects
  readonly #config: UpstreamConfig
  readonly #address: Address

  constructor(
    url: URL,
    config: UpstreamConfig,
    ejection: EjectionSettings,
    tls: TlsOptions,
    suspects: Suspects,
    owner: OutlierEjectionOwner,
  ) {
    this.url = url
    this.origin = url.origin
    this.ejection = new OutlierEjection(ejection, config.health, owner)
    this.#suspects = suspects
    this.#config = config
    this.#address = addressOf(url, tls)
    this.pool = this.#openPool()
    this.agent = new TargetAgent(this.#address, config.connectTimeout)
  }

  /** The validity of its certificate, once a connection has verified it; null before, and without TLS. */
  get certificate(): Validity | null {
    return validityAt(this.#address)
  }

  /**
   * A request starts.
   *
   * @returns the epoch for `end` and for its results to `ejection`
   */
  begin(now: number): number {
    this.pending++
    return this.ejection.begin(now)
  }

  end(epoch: number): void {
    this.pending--
    this.ejection.end(epoch)
  }

  dispatch(request: UpstreamRequest, receiver: ResponseReceiver): void {
    if (!this.pool.closed) return this.#poolFor(receiver).dispatch(request, receiver)
    // The decision was made before a reload. The request is still served, on a connection of its own.
    const ownPool = this.#openPool()
    ownPool.dispatch(request, receiver)
    void ownPool.close()
  }

  #poolFor(receiver: ResponseReceiver): RequestPool {
    if (this.#suspects.areNone || !this.#suspects.has(receiver.owner)) return this.pool
    this.#alone ??= this.#openPool({ connections: ALONE_CONNECTIONS, streams: 1 })
    return this.#alone
  }

  get #pools(): RequestPool[] {
    return this.#alone === null ? [this.pool] : [this.#alone, this.pool]
  }

  /** The body of a request is complete, and no connection was available for it yet. */
  bodyReceived(receiver: ResponseReceiver): void {
    for (const pool of this.#pools) pool.bodyReceived(receiver)
  }

  /** Evicts for an owner that holds less at this target than another one. */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    if (this.#alone === null) return this.pool.evictFor(owner, uploads)
    const all = new Ledger<null>()
    for (const pool of this.#pools) for (const each of pool.owners()) all.add(null, each)
    // The owner that holds the most in one pool may hold nothing in the other.
    return all.greedierThan(owner) !== null && this.#pools.some((pool) => pool.evictFor(owner, uploads))
  }

  /**
   * Takes a waiting request out of the queue of its pool.
   *
   * @returns whether it waited
   */
  cancel(receiver: ResponseReceiver): boolean {
    return this.#pools.some((pool) => pool.cancel(receiver))
  }

  /** Resolves when the requests in flight have ended. */
  async close(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.close()))
  }

  /** Ends all requests at once. */
  async destroy(): Promise<void> {
    await Promise.all(this.#pools.map((pool) => pool.destroy()))
  }

  #openPool(more: Partial<PoolSettings> = {}): RequestPool {
    const { connections, uploads, evictionDelay, connectTimeout, bodyTimeout, protocol } = this.#config
    const http2 = protocol !== 'http1'
    return new RequestPool({
      ...this.#address,
      authority: this.url.host,
      http2,
      connections,
      uploads,
      evictionDelay,
      connectTimeout,
      bodyTimeout,
      // Servers announce the end of an HTTP/2 connection, and keep idle ones for longer.
      keepAlive: http2 ? KEEP_ALIVE_MAX : KEEP_ALIVE,
      keepAliveMax: KEEP_ALIVE_MAX,
      suspects: this.#suspects,
      ...more,
    })
  }
}

export function addressOf({ protocol, hostname, port }: URL, tls: TlsOptions): Address {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'https:') return { host, port: Number(port || 443), tls }
  return { host, port: Number(port || 80), tls: null }
}

/** Opens a new connection for each handshake of a WebSocket, as all other connections to the target. */
class TargetAgent extends Agent {
  readonly #address: Address
  readonly #timeout: number

  /** @param timeout ms for a connection, TLS included */
  constructor(address: Address, timeout: number) {
    super({ keepAlive: false })
    this.#address = address
    this.#timeout = timeout
  }

  override createConnection(
    _options: object,
    callback?: (error: Error | null, connection: Duplex) => void,
  ): undefined {
    connect(this.#address, this.#timeout, (error, socket) => callback?.(error, socket as Duplex))
  }
}

export class Balancer {
  readonly #targets: readonly Target[]
  /** The only target; null if there are several. */
  readonly #only: Target | null
  readonly #maxPending: number
  readonly #roundRobin: boolean
  readonly #probeInterval: number
  /** The start of the next search: after the last selected target. */
  #next = 0
  #probedAt = -Infinity

  constructor(
    targets: readonly Target[],
    { balance, maxPending }: Pick<UpstreamConfig, 'balance' | 'maxPending'>,
    { testInterval }: EjectionSettings,
  ) {
    this.#targets = targets
    this.#only = targets.length === 1 ? (targets[0] ?? null) : null
    this.#maxPending = maxPending
    this.#roundRobin = balance === 'round-robin'
    this.#probeInterval = testInterval
  }

  /**
   * The target of a new request, or the refusal.
   *
   * @param now monotonic ms
   * @param repeatable see `OutlierEjection.probeDue`
   * @param uploads the body is still arriving, perhaps slowly
   */
  choose(now: number, repeatable: boolean, uploads: boolean): Target | Refusal {
    const only = this.#only
    if (uploads && this.#isFullOfUploads()) return busy
    if (only?.ejection.available === true) return only.pending < this.#maxPending ? only : busy
    return (
      this.#dueForProbe(now, repeatable) ??
      this.#selectAvailable(null, null) ??
      (this.#targets.some(({ ejection }) => ejection.available) ? busy : (this.#probe(now) ?? unavailable))
    )
  }

  /** The target for a retry: neither `tried` nor the one before it. */
  alternative(tried: Target, before: Target | null): Target | null {
    return this.#selectAvailable(tried, before)
  }

  /** Whether no other target is available. */
  isLast(target: Target): boolean {
    return this.#targets.every((each) => each === target || !each.ejection.available)
  }

  /** Half of the capacity is reserved for requests that arrived completely. */
  #isFullOfUploads(): boolean {
    let uploads = 0
    for (const target of this.#targets) uploads += target.uploads
    return uploads >= (this.#maxPending * this.#targets.length) / 2
  }

  #selectAvailable(tried: Target | null, before: Target | null): Target | null {
    const targets = this.#targets
    let selectAvailable: Target | null = null
    let at = this.#next
    for (let remaining = targets.length; remaining > 0; remaining--) {
      if (at >= targets.length) at = 0
      const target = targets[at++]
      if (target === undefined || target === tried || target === before) continue
      if (!target.ejection.available || target.pending >= this.#maxPending) continue
      if (selectAvailable !== null && target.pending >= selectAvailable.pending) continue
      selectAvailable = target
      this.#next = at
      if (this.#roundRobin) break
    }
    return selectAvailable
  }

  /** A target whose ejection time is over: this request probes it. */
  #dueForProbe(now: number, repeatable: boolean): Target | null {
    for (const target of this.#targets)
      if (!target.ejection.available && target.ejection.probeDue(now, repeatable)) return target
    return null
  }

  /**
   * No target is available. One request in each interval probes a target before its ejection time is over,
   * for a quick recovery.
   */
  #probe(now: number): Target | null {
    if (now - this.#probedAt < this.#probeInterval) return null
    let oldest: Target | null = null
    for (const target of this.#targets) {
      if (!target.ejection.probeable) continue
      if (oldest === null || target.ejection.probedAt < oldest.ejection.probedAt) oldest = target
    }
    if (oldest !== null) this.#probedAt = now
    return oldest
  }
}
