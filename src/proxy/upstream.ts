/**
 * One configured upstream: its connections, and what its requests need that is known at load.
 * Made by `gateway.ts`, one for each entry of the configuration; never shared, so that nothing an upstream does to its
 * connections can reach another's callers.
 */

import type { Socket } from 'node:net'
import { buildConnector, type Dispatcher, Pool } from 'undici'
import type { UpstreamConfig } from '../config/config.ts'
import { TrustedProxies } from './forwarded.ts'

export interface UpstreamOptions {
  /** CIDRs whose X-Forwarded-* are continued. None by default. */
  readonly trustedProxies?: readonly string[]
  /** Connections at once; more requests wait for one, within their response timeout. */
  readonly connections?: number
  /** Milliseconds that either side may leave a body standing still. */
  readonly stall?: number
}

const CONNECTIONS = 256
const STALL = 60_000
/** Bytes of an answer's header section. */
const MAX_HEADER_BYTES = 64 * 1024
/** An idle connection is dropped after this many ms, sooner if the upstream says so: less than common servers keep it. */
const KEEP_ALIVE = 4_000
const KEEP_ALIVE_MAX = 60_000

export class Upstream {
  readonly config: UpstreamConfig
  readonly proxies: TrustedProxies
  readonly stall: number
  /** The name TLS is told to ask for: constant, so that undici never reconnects because of another Host. */
  readonly servername: string
  /** To the first target. Balancing over several goes here: one pool a target, picked for each request. */
  readonly pool: Pool
  readonly #connections: number
  /** Errors of connections that had carried an answer before they died. */
  readonly #afterUse = new WeakSet<Error>()

  constructor(config: UpstreamConfig, options: UpstreamOptions = {}) {
    this.config = config
    this.proxies = new TrustedProxies(options.trustedProxies ?? [])
    this.stall = options.stall ?? STALL
    this.servername = targetOf(config).hostname
    this.#connections = options.connections ?? CONNECTIONS
    this.pool = this.#open()
  }

  /** Never throws; what is wrong is told to the handler. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (!this.pool.closed) {
      this.pool.dispatch(options, handler)
      return
    }
    // Judged before a reload, sent after it: served all the same, on a connection that goes with the request.
    const late = this.#open()
    late.dispatch(options, handler)
    void late.close()
  }

  /** A connection that had been used and was kept died with this error. Servers close idle ones; it means nothing. */
  diedAfterUse(error: Error): boolean {
    return this.#afterUse.has(error)
  }

  /** Resolves when requests under way are done. */
  async close(): Promise<void> {
    await this.pool.close()
  }

  #open(): Pool {
    return new Pool(targetOf(this.config).origin, {
      connect: this.#connector(),
      connections: this.#connections,
      // One request at a time on a connection: an answer can't be taken for another request's.
      pipelining: 1,
      allowH2: false,
      // `forward.ts` times this by itself: undici's would count from other moments.
      headersTimeout: 0,
      bodyTimeout: this.stall,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX,
    })
  }

  #connector(): buildConnector.connector {
    const connect = buildConnector({ allowH2: false, timeout: this.config.connectTimeout })
    const afterUse = this.#afterUse
    function onError(this: Socket, error: Error) {
      if (this.bytesRead > 0) afterUse.add(error)
    }
    // '' makes the certificate be checked against the target's name, also where the client's Host is passed on.
    return (options, callback) =>
      connect({ ...options, servername: '' }, (...result) => {
        result[1]?.on('error', onError)
        callback(...result)
      })
  }
}

function targetOf({ name, targets }: UpstreamConfig): URL {
  const target = targets[0]
  if (target === undefined) throw new Error(`upstream ${name} has no target`)
  return target
}
