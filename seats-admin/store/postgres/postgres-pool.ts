/**
 * A connection pool. A connection with an expired query or an open transaction is destroyed, so that a late
 * response never reaches another caller. `pg.Pool` does not bound its queue, opens a connection for each
 * caller while the server is down, and keeps connections that a restart of the server has broken until each
 * of them fails a query; see the tests `faults`, `kill` and `no-room`.
 */

import { monotonic } from '../monotonic.ts'
import { MAX_WAITING, overloaded, StoreUnavailable } from '../unavailable.ts'
import type { Call } from './call.ts'
import { Connection, type Session } from './postgres-connection.ts'
import { ConnectionLost } from './postgres-errors.ts'
import type { Target } from './url.ts'

/** Milliseconds between a failed connect and the next attempt. Calls in between are rejected at once. */
const PAUSE = 100

interface Waiting {
  readonly resolve: (connection: Connection) => void
  readonly reject: (cause: unknown) => void
}

export class Pool {
  readonly #target: Target
  readonly #session: Session
  readonly #size: number
  /** All open connections, idle ones included. */
  readonly #open = new Set<Connection>()
  #idle: Connection[] = []
  #connecting = 0
  readonly #waiting = new Set<Waiting>()
  /** Monotonic ms. Connections opened before are not used again. */
  #validSince = Number.NEGATIVE_INFINITY
  #failure: { readonly cause: unknown; readonly until: number } | null = null
  #closed = false

  constructor(target: Target, session: Session, size: number) {
    this.#target = target
    this.#session = session
    this.#size = size
  }

  /** Runs `work` with a connection, which returns to the pool unless the work failed. */
  async use<V>(call: Call, work: (connection: Connection) => Promise<V>): Promise<V> {
    const connection = await this.#acquire(call)
    // A query that expires would destroy the new connection each time. The next call finds it ready.
    if (connection.readyAt > call.startedAt && call.timeout - call.elapsed < connection.connectTime / 2) {
      this.#release(connection)
      throw new StoreUnavailable('the login to the store took too long', { fault: 'timeout' })
    }
    call.onExpire(() => this.#discard(connection))
    try {
      const value = await work(connection)
      this.#release(connection)
      return value
    } catch (cause) {
      if (cause instanceof ConnectionLost) this.#discardOlder(connection)
      this.#discard(connection)
      throw cause
    } finally {
      call.onExpire(null)
    }
  }

  /** Like {@link use}, with one retry on another connection if the first one broke. For idempotent work. */
  async repeat<V>(call: Call, work: (connection: Connection) => Promise<V>): Promise<V> {
    try {
      return await this.use(call, work)
    } catch (cause) {
      if (!(cause instanceof ConnectionLost) || call.expired) throw cause
      return this.use(call, work)
    }
  }

  /** Opens a connection in advance if there is none. */
  warm(): void {
    if (this.#open.size + this.#connecting > 0) return
    this.#connecting++
    void this.#connect()
  }

  /** Must be called without calls in flight. */
  async close(): Promise<void> {
    this.#closed = true
    const open = [...this.#open]
    this.#open.clear()
    this.#idle = []
    await Promise.all(open.map((connection) => connection.close()))
  }

  #acquire(call: Call): Promise<Connection> {
    const idle = this.#idle.pop()
    if (idle !== undefined) return Promise.resolve(idle)
    if (this.#waiting.size >= MAX_WAITING) return Promise.reject(overloaded())
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject }
      this.#waiting.add(waiting)
      call.onExpire(() => this.#waiting.delete(waiting))
      this.#openMore()
    })
  }

  /** Opens connections for the waiting calls, or rejects these after a failed connect. */
  #openMore(): void {
    if (this.#failure !== null && monotonic() < this.#failure.until) return this.#rejectWaiting()
    while (this.#waiting.size > this.#connecting && this.#open.size + this.#connecting < this.#size) {
      this.#connecting++
      void this.#connect()
    }
  }

  async #connect(): Promise<void> {
    try {
      const connection = await Connection.open(this.#target, this.#session)
      this.#connecting--
      this.#failure = null
      this.#add(connection)
    } catch (cause) {
      this.#connecting--
      this.#failure = { cause, until: monotonic() + PAUSE }
      this.#rejectWaiting()
    }
  }

  #add(connection: Connection): void {
    if (this.#closed) return connection.destroy()
    this.#open.add(connection)
    connection.onBroken = () => this.#discardOlder(connection)
    this.#release(connection)
  }

  #rejectWaiting(): void {
    if (this.#open.size > 0 || this.#connecting > 0) return
    for (const { reject } of this.#waiting) reject(this.#failure?.cause)
    this.#waiting.clear()
  }

  #release(connection: Connection): void {
    if (!connection.usable || connection.openedAt < this.#validSince) return this.#discard(connection)
    const [next] = this.#waiting
    if (next === undefined) return void this.#idle.push(connection)
    this.#waiting.delete(next)
    next.resolve(connection)
  }

  /**
   * A failure of one connection, such as a restart of the server, most likely affects all: retries need a
   * connection opened after it.
   */
  #discardOlder(connection: Connection): void {
    if (!this.#open.has(connection)) return
    this.#validSince = monotonic()
    for (const suspect of [connection, ...this.#idle]) this.#discard(suspect)
  }

  #discard(connection: Connection): void {
    if (!this.#open.delete(connection)) return
    this.#idle = this.#idle.filter((idle) => idle !== connection)
    connection.destroy()
    this.#openMore()
  }
}
