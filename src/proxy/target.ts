/**
 * One address of an upstream: its connections, the requests that are there now, and whether it takes part.
 * Made by `upstream.ts`, picked by `balancer.ts`, used by `forward.ts`.
 */

import { type Dispatcher, Pool } from 'undici'
import { Connector, type TlsOptions } from './connector.ts'
import { Rotation, type RotationOwner } from './rotation.ts'
import type { TargetStatus } from './upstream-events.ts'
import type { UpstreamSettings } from './upstream-options.ts'

/** Bytes of an answer's header section. */
const MAX_HEADER_BYTES = 64 * 1024
/** An idle connection is dropped after this many ms, sooner if the upstream says so: less than common servers keep it. */
const KEEP_ALIVE = 4_000
const KEEP_ALIVE_MAX = 60_000

export class Target {
  readonly url: URL
  /** The name TLS is told to ask for: constant, so that undici never reconnects because of another Host. */
  readonly servername: string
  readonly rotation: Rotation
  /** Requests under way and waiting. Those that were given up count until undici has let go of them: they are held. */
  pending = 0
  readonly #settings: UpstreamSettings
  readonly #connector: Connector
  readonly #pool: Pool

  /** @param connectTimeout ms */
  constructor(
    url: URL,
    connectTimeout: number,
    settings: UpstreamSettings,
    tls: TlsOptions,
    owner: RotationOwner,
  ) {
    this.url = url
    this.servername = url.hostname
    this.rotation = new Rotation(settings.ejection, settings.health, owner)
    this.#settings = settings
    this.#connector = new Connector(connectTimeout, tls)
    this.#pool = this.#open()
  }

  get status(): TargetStatus {
    return { target: this.url.origin, state: this.rotation.state, pending: this.pending }
  }

  /** A request goes here. The number goes back with `end`, and with what it finds out to `rotation`. */
  begin(now: number): number {
    this.pending++
    return this.rotation.begin(now)
  }

  end(epoch: number): void {
    this.pending--
    this.rotation.end(epoch)
  }

  /** Never throws; what is wrong is told to the handler. */
  dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    if (!this.#pool.closed) {
      this.#pool.dispatch(options, handler)
      return
    }
    // Judged before a reload, sent after it: served all the same, on a connection that goes with the request.
    const late = this.#open()
    late.dispatch(options, handler)
    void late.close()
  }

  diedAfterUse(error: Error): boolean {
    return this.#connector.diedAfterUse(error)
  }

  /** Resolves when requests under way are done. */
  async close(): Promise<void> {
    await this.#pool.close()
  }

  /** At once, whatever is under way. */
  async destroy(): Promise<void> {
    await this.#pool.destroy()
  }

  #open(): Pool {
    return new Pool(this.url.origin, {
      connect: this.#connector.connect,
      connections: this.#settings.connections,
      // One request at a time on a connection: an answer can't be taken for another request's.
      pipelining: 1,
      allowH2: false,
      // `forward.ts` times this by itself: undici's would count from other moments.
      headersTimeout: 0,
      bodyTimeout: this.#settings.bodyTimeout,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: KEEP_ALIVE,
      keepAliveMaxTimeout: KEEP_ALIVE_MAX,
    })
  }
}
