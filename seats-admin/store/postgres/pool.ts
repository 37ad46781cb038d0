/**
 * A few connections and the calls that wait for one. A connection whose answer did not come in time, or that was left
 * amidst a transaction, is destroyed: a late answer never reaches another caller.
 */

import { monotonic } from '../clock.ts'
import { StoreUnavailable } from '../store.ts'
import type { Call } from './call.ts'
import { Connection, type Session } from './connection.ts'
import { ConnectionLost } from './errors.ts'
import type { Target } from './url.ts'

/** Milliseconds between a connection that failed and the next try. Calls in between are refused at once. */
const PAUSE = 100
/** Calls without a connection. More than a healthy server ever leaves waiting. */
const MAX_WAITING = 10_000

interface Waiting {
  readonly resolve: (connection: Connection) => void
  readonly reject: (cause: unknown) => void
}

export class Pool {
  readonly #target: Target
  readonly #session: Session
  readonly #size: number
  /** All that are open, the idle ones too. */
  readonly #open = new Set<Connection>()
  #idle: Connection[] = []
  #connecting = 0
  readonly #waiting = new Set<Waiting>()
  /** Connections that were opened before are not used again. */
  #since = Number.NEGATIVE_INFINITY
  #failure: { readonly cause: unknown; readonly until: number } | null = null
  #closed = false

  constructor(target: Target, session: Session, size: number) {
    this.#target = target
    this.#session = session
    this.#size = size
  }

  /** Hands a connection to `work`, and takes it back when the work is done, unless it failed. */
  async use<V>(call: Call, work: (connection: Connection) => Promise<V>): Promise<V> {
    const connection = await this.#take(call)
    // Cut off amidst its first question it would be opened again, and again: the next call finds it ready.
    if (connection.ready > call.asked && call.timeout - call.waited < connection.entry / 2) {
      this.#giveBack(connection)
      throw new StoreUnavailable('the store was too slow to let us in', { fault: 'timeout' })
    }
    call.underWay(() => this.#discard(connection))
    try {
      const value = await work(connection)
      this.#giveBack(connection)
      return value
    } catch (cause) {
      if (cause instanceof ConnectionLost) this.#broke(connection)
      this.#discard(connection)
      throw cause
    } finally {
      call.underWay(null)
    }
  }

  /** As {@link use}, and once more on another connection if the first one broke. For work that may be done twice. */
  async repeat<V>(call: Call, work: (connection: Connection) => Promise<V>): Promise<V> {
    try {
      return await this.use(call, work)
    } catch (cause) {
      if (!(cause instanceof ConnectionLost) || call.late) throw cause
      return this.use(call, work)
    }
  }

  /** Opens a connection before one is asked for, where there is none. */
  warm(): void {
    if (this.#open.size + this.#connecting > 0) return
    this.#connecting++
    void this.#connect()
  }

  /** To be called when no call is under way. */
  async close(): Promise<void> {
    this.#closed = true
    const open = [...this.#open]
    this.#open.clear()
    this.#idle = []
    await Promise.all(open.map((connection) => connection.close()))
  }

  #take(call: Call): Promise<Connection> {
    const idle = this.#idle.pop()
    if (idle !== undefined) return Promise.resolve(idle)
    if (this.#waiting.size >= MAX_WAITING) {
      return Promise.reject(
        new StoreUnavailable(`the store has ${MAX_WAITING} calls waiting`, { fault: 'overloaded' }),
      )
    }
    return new Promise((resolve, reject) => {
      const waiting = { resolve, reject }
      this.#waiting.add(waiting)
      call.underWay(() => this.#waiting.delete(waiting))
      this.#fill()
    })
  }

  /** Opens what those who wait need, or tells them that there is nothing to hope for. */
  #fill(): void {
    if (this.#failure !== null && monotonic() < this.#failure.until) return this.#refuseHopeless()
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
      this.#refuseHopeless()
    }
  }

  #add(connection: Connection): void {
    if (this.#closed) return connection.destroy()
    this.#open.add(connection)
    connection.onBroken = () => this.#broke(connection)
    this.#giveBack(connection)
  }

  #refuseHopeless(): void {
    if (this.#open.size > 0 || this.#connecting > 0) return
    for (const { reject } of this.#waiting) reject(this.#failure?.cause)
    this.#waiting.clear()
  }

  #giveBack(connection: Connection): void {
    if (!connection.usable || connection.opened < this.#since) return this.#discard(connection)
    const [next] = this.#waiting
    if (next === undefined) return void this.#idle.push(connection)
    this.#waiting.delete(next)
    next.resolve(connection)
  }

  /**
   * What one connection met, a restart of the server say, all have most likely met, and will hear of it in a moment:
   * who asks again needs one that was opened since.
   */
  #broke(connection: Connection): void {
    if (!this.#open.has(connection)) return
    this.#since = monotonic()
    for (const suspect of [connection, ...this.#idle]) this.#discard(suspect)
  }

  #discard(connection: Connection): void {
    if (!this.#open.delete(connection)) return
    this.#idle = this.#idle.filter((idle) => idle !== connection)
    connection.destroy()
    this.#fill()
  }
}
