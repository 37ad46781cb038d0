/** One address of an upstream: its connections, the requests that are there now, and whether it takes part. */

import { type Address, connect, type TlsOptions } from '../http/client/connector.ts'
import {
  ConnectionLost,
  type UpstreamRequest,
  type RequestOwner,
  type ResponseReceiver,
} from '../http/client/upstream-request.ts'
import { ConnectionPool } from '../http/client/connection-pool.ts'
import { OutlierEjection, type OutlierEjectionOwner } from './outlier-ejection.ts'
import type { TargetStatus } from './upstream-events.ts'
import type { UpstreamSettings } from './upstream-options.ts'
import { TargetAgent } from './websocket/agent.ts'

/** An idle connection is dropped after this many ms, sooner if the upstream says so: less than common servers keep it. */
const KEEP_ALIVE = 4_000
const KEEP_ALIVE_MAX = 60_000

export class Target {
  readonly url: URL
  readonly ejection: OutlierEjection
  /** Requests under way and waiting. Those that were given up count until they are let go of. */
  pending = 0
  /** Those of them whose body has not come whole yet. */
  uploads = 0
  /** For WebSockets: connections that go with the request. */
  readonly agent: TargetAgent
  readonly #settings: UpstreamSettings
  readonly #connectTimeout: number
  readonly #address: Address
  readonly #pool: ConnectionPool

  /** @param connectTimeout ms */
  constructor(
    url: URL,
    connectTimeout: number,
    settings: UpstreamSettings,
    tls: TlsOptions,
    owner: OutlierEjectionOwner,
  ) {
    this.url = url
    this.ejection = new OutlierEjection(settings.ejection, settings.health, owner)
    this.#settings = settings
    this.#connectTimeout = connectTimeout
    this.#address = addressOf(url, tls)
    this.#pool = this.#openPool()
    this.agent = new TargetAgent((callback) => connect(this.#address, connectTimeout, callback))
  }

  get status(): TargetStatus {
    return { target: this.url.origin, state: this.ejection.state, pending: this.pending }
  }

  /** A request goes here. The number goes back with `end`, and with what it finds out to `rotation`. */
  begin(now: number): number {
    this.pending++
    return this.ejection.begin(now)
  }

  end(epoch: number): void {
    this.pending--
    this.ejection.end(epoch)
  }

  dispatch(request: UpstreamRequest, receiver: ResponseReceiver): void {
    if (!this.#pool.closed) return this.#pool.dispatch(request, receiver)
    // Judged before a reload, sent after it: served all the same, on a connection that goes with the request.
    const ownPool = this.#openPool()
    ownPool.dispatch(request, receiver)
    void ownPool.close()
  }

  /** The request is given up. @returns whether it waited here: then it waits no longer, and is told nothing more */
  cancel(receiver: ResponseReceiver): boolean {
    return this.#pool.cancel(receiver)
  }

  /** A body that is still coming has to wait for a place. */
  get uploadsFull(): boolean {
    return this.#pool.uploadsFull
  }

  /** Ends a request of a caller that has more of them here. @returns whether there was one */
  evictFor(owner: RequestOwner, uploads: boolean): boolean {
    return this.#pool.evictFor(owner, uploads)
  }

  /** A connection that had been used and was kept died with this error. Servers close idle ones; it means nothing. */
  isKeepAliveRace(error: Error): boolean {
    return error instanceof ConnectionLost && error.afterUse
  }

  /** Resolves when requests under way are done. */
  close(): Promise<void> {
    return this.#pool.close()
  }

  /** At once, whatever is under way. */
  destroy(): Promise<void> {
    return this.#pool.destroy()
  }

  #openPool(): ConnectionPool {
    const { connections, uploads, evictionDelay, bodyTimeout } = this.#settings
    return new ConnectionPool({
      ...this.#address,
      authority: this.url.host,
      connections,
      uploads: uploads ?? Math.ceil(connections / 2),
      evictionDelay,
      connectTimeout: this.#connectTimeout,
      bodyTimeout,
      keepAlive: KEEP_ALIVE,
      keepAliveMax: KEEP_ALIVE_MAX,
    })
  }
}

function addressOf({ protocol, hostname, port }: URL, tls: TlsOptions): Address {
  const host = hostname.replace(/^\[|\]$/g, '')
  if (protocol === 'https:') return { host, port: Number(port || 443), tls }
  return { host, port: Number(port || 80), tls: null }
}
