/**
 * The connections to one target, by TLS or without: kept, shared out one request at a time, opened up to a limit; beyond
 * that requests wait in line. Made by `target.ts`.
 *
 * Why not undici: it lets some malformed answers pass, and with it a whole request costs half as much again (`npm run
 * bench -- --compare`, without TLS: this client's requests take 0.64 of the CPU, quartiles 0.635 to 0.696).
 */

import { performance } from 'node:perf_hooks'
import { ClientClosed, ConnectionLost, type HopRequest, type Receiver } from '../hop.ts'
import { Connection, type ConnectionOwner, type ConnectionSettings } from './connection.ts'
import { type Crowd, Relief } from './relief.ts'

export interface ClientSettings extends ConnectionSettings {
  /** At once. */
  readonly connections: number
}

/** Milliseconds between looks for connections that have been idle for too long. */
const SWEEP = 1000

interface Waiting {
  readonly request: HopRequest
  readonly receiver: Receiver
}

export class Http1Client implements ConnectionOwner, Crowd {
  closed = false
  readonly #settings: ClientSettings
  /** Established or not, busy or not. */
  readonly #all = new Set<Connection>()
  readonly #connecting = new Set<Connection>()
  /** Those used last at the end, and taken first: the others may grow old. */
  readonly #idle: Connection[] = []
  readonly #waiting: Waiting[] = []
  /** Clients may take their time to send a body: such requests get no more than half of the connections. */
  readonly #maxUploads: number
  #uploads = 0
  readonly #waitingUploads: Waiting[] = []
  readonly #relief: Relief = new Relief(this)
  #sweeping: NodeJS.Timeout | null = null
  #closed: (() => void) | null = null

  constructor(settings: ClientSettings) {
    this.#settings = settings
    this.#maxUploads = Math.ceil(settings.connections / 2)
  }

  dispatch(request: HopRequest, receiver: Receiver): void {
    if (request.body !== null) {
      if (this.#uploads >= this.#maxUploads) {
        this.#waitingUploads.push({ request, receiver })
        return this.#relief.begin()
      }
      this.#uploads++
    }
    const connection = this.#takeIdle()
    if (connection !== null) return connection.take(request, receiver)
    this.#waiting.push({ request, receiver })
    this.#open()
    if (this.#all.size === this.#settings.connections) this.#relief.begin()
  }

  ready(connection: Connection): void {
    this.#connecting.delete(connection)
    const next = this.#waiting.shift()
    if (next !== undefined) return connection.take(next.request, next.receiver)
    if (this.closed) return connection.lost(new ClientClosed('closed'))
    this.#idle.push(connection)
    this.#sweeping ??= setInterval(sweep, SWEEP, this).unref()
  }

  lost(connection: Connection, error: Error): void {
    this.#all.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
    // It was opened for whoever waits longest.
    if (this.#connecting.delete(connection)) this.#fail(this.#waiting.shift(), error)
    this.#open()
    this.#settle()
  }

  uploaded(): void {
    this.#uploads--
    const next = this.#waitingUploads.shift()
    if (next !== undefined) this.dispatch(next.request, next.receiver)
  }

  get connections(): Iterable<Connection> {
    return this.#all
  }

  get waiting(): number {
    return this.#waiting.length + this.#waitingUploads.length
  }

  returned(request: HopRequest, receiver: Receiver): void {
    this.dispatch(request, receiver)
  }

  /** Those that are idle for too long; the oldest come first. */
  sweep(): void {
    const now = performance.now()
    for (const connection of this.#idle.filter(({ expiresAt }) => expiresAt <= now)) connection.lost(aged())
    if (this.#idle.length === 0) this.#stopSweeping()
  }

  async close(): Promise<void> {
    this.closed = true
    this.#stopSweeping()
    for (const connection of [...this.#idle]) connection.lost(new ClientClosed('closed'))
    if (this.#all.size === 0) return
    await new Promise<void>((resolve) => {
      this.#closed = resolve
    })
  }

  async destroy(): Promise<void> {
    this.closed = true
    this.#relief.end()
    this.#stopSweeping()
    const error = new ClientClosed('the gateway closes its connections')
    for (const waiting of this.#waitingUploads.splice(0)) waiting.receiver.failed(error)
    for (const waiting of this.#waiting.splice(0)) this.#fail(waiting, error)
    for (const connection of [...this.#all]) connection.lost(error)
  }

  #takeIdle(): Connection | null {
    const now = performance.now()
    for (let connection = this.#idle.pop(); connection !== undefined; connection = this.#idle.pop()) {
      if (connection.expiresAt > now) return connection
      connection.lost(aged())
    }
    return null
  }

  #open(): void {
    while (this.#connecting.size < this.#waiting.length && this.#all.size < this.#settings.connections) {
      const connection = new Connection(this.#settings, this)
      this.#all.add(connection)
      this.#connecting.add(connection)
    }
  }

  #fail(waiting: Waiting | undefined, error: Error): void {
    if (waiting === undefined) return
    if (waiting.request.body !== null) this.uploaded()
    waiting.receiver.failed(error)
  }

  #settle(): void {
    if (this.closed && this.#all.size === 0) this.#closed?.()
  }

  #stopSweeping(): void {
    if (this.#sweeping !== null) clearInterval(this.#sweeping)
    this.#sweeping = null
  }
}

function sweep(client: Http1Client): void {
  client.sweep()
}

function aged(): ConnectionLost {
  return new ConnectionLost('it was idle for too long', '', true)
}
