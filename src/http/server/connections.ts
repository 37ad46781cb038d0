/**
 * All client connections by state, and the eviction of one when there are too many: a connection without a
 * request must not keep out one with a request.
 */

import { performance } from 'node:perf_hooks'
import type { Limits } from '../../config/config.ts'
import type { ClientConnection } from './client-connection.ts'
import { type Evicted, Eviction, type Queues, updateStall } from './eviction.ts'
import { Ledger } from '../../lib/ledger.ts'
import { Queue } from '../../lib/queue.ts'

/**
 * `opening`: no complete header section yet. `active`: a request in flight. `idle`: kept alive for the next
 * request.
 */
export type ConnectionState = 'opening' | 'active' | 'idle'

type Bounds = Pick<Limits, 'connections' | 'connectionsPerAddress'>

/** The exceeded bound. */
export type RefusedBy = 'limit' | 'address'

export class Connections {
  readonly #queues: Queues = {
    opening: new Queue(),
    active: new Queue(),
    idle: new Queue(),
    // Kept alive, with a part of the next header section. Reported as idle, but evicted after the idle ones.
    returning: new Queue(),
  }
  /** The connections by client address, if it identifies the client. */
  readonly #addresses = new Ledger<ClientConnection>()
  readonly #eviction: Eviction
  #bounds: Bounds
  /** Monotonic ms, updated about once a second: reading the clock for each request costs too much. */
  #now = performance.now()
  /** The listener closes and needs exact idle times. */
  #exactTimes = false

  constructor(bounds: Bounds, evicted: (state: Evicted) => void) {
    this.#bounds = bounds
    this.#eviction = new Eviction(this.#queues, this.#addresses, evicted)
  }

  /** Existing connections stay, even beyond the new bounds. */
  configure(bounds: Bounds): void {
    this.#bounds = bounds
  }

  get counts(): Readonly<Record<ConnectionState, number>> {
    const { opening, active, idle, returning } = this.#queues
    return { opening: opening.size, active: active.size, idle: idle.size + returning.size }
  }

  /**
   * @param address of the client; null if many clients share it
   * @returns the exceeded bound; null if the connection is admitted
   */
  admit(connection: ClientConnection, address: string | null): RefusedBy | null {
    const { connections } = this.#bounds
    if (!this.#admits(address)) return 'address'
    if (this.#size >= connections && !this.#eviction.evictOne(connections, address)) return 'limit'
    connection.queuedAt = performance.now()
    this.#queues.opening.add(connection)
    this.#enter(connection, address)
    connection.socket.once('close', () => {
      this.remove(connection)
    })
    return null
  }

  /**
   * Sets the client address of an admitted connection.
   *
   * @returns whether the bound of the address admits it
   */
  identify(connection: ClientConnection, address: string | null): boolean {
    if (!this.#admits(address)) return false
    this.#enter(connection, address)
    return true
  }

  #admits(address: string | null): boolean {
    const { connections, connectionsPerAddress } = this.#bounds
    if (address === null || connectionsPerAddress >= connections) return true
    const account = this.#addresses.account(address)
    return account === null || account.size < connectionsPerAddress || this.#eviction.evictOneOf(account)
  }

  #enter(connection: ClientConnection, address: string | null): void {
    if (address !== null) connection.entry = this.#addresses.add(connection, [address])
  }

  /** The connection is closed; or the last response is sent, and the lingering close takes it over. */
  remove(connection: ClientConnection): void {
    connection.queue?.remove(connection)
    connection.entry?.remove()
  }

  /** No request has arrived on it. */
  isNew(connection: ClientConnection): boolean {
    return connection.queue === this.#queues.opening
  }

  /** A part of a header section has arrived. */
  headStarted(connection: ClientConnection): void {
    if (connection.queue === this.#queues.idle)
      this.#move(connection, this.#queues.returning, performance.now())
  }

  /** What had arrived was a frame of HTTP/2 without a request. */
  headWithdrawn(connection: ClientConnection): void {
    if (connection.queue === this.#queues.returning)
      this.#move(connection, this.#queues.idle, performance.now())
  }

  /** A complete header section has arrived. */
  headReceived(connection: ClientConnection): void {
    if (connection.queue !== this.#queues.active) this.#move(connection, this.#queues.active, 0)
  }

  /** The response is sent. */
  becameIdle(connection: ClientConnection): void {
    connection.bytesReadWhenIdle = connection.socket.bytesRead
    this.#move(connection, this.#queues.idle, this.#exactTimes ? performance.now() : this.#now)
  }

  #move(connection: ClientConnection, to: Queue<ClientConnection>, since: number): void {
    if (connection.queue === null) return
    connection.queue.remove(connection)
    connection.queuedAt = since
    to.add(connection)
  }

  /** Whether a connection has a request in flight. */
  get anyActive(): boolean {
    return this.#queues.active.size > 0
  }

  /** Connections with a request in flight. */
  get active(): ClientConnection[] {
    return this.#queues.active.all()
  }

  /**
   * Closes connections that wait for a request and have received nothing of it for this long. One with a part
   * of a header section keeps the time of a header section.
   */
  closeIdle(forMs: number): void {
    const now = performance.now()
    for (const connection of [...this.#queues.opening.all(), ...this.#queues.idle.all()])
      if (connection.awaitsRequest && now - connection.queuedAt >= forMs) connection.closeIdle()
  }

  /** Makes idle times exact. */
  startClock(): void {
    this.#exactTimes = true
    const now = performance.now()
    for (const connection of [...this.#queues.opening.all(), ...this.#queues.idle.all()])
      connection.queuedAt = now
  }

  /**
   * Called about once a second.
   *
   * @param headerTimeout ms for a header section; late connections go to `late`
   * @param idleTimeout ms, plus up to a second, for an idle connection
   */
  closeLate(headerTimeout: number, idleTimeout: number, late: (connection: ClientConnection) => void): void {
    const before = this.#now
    this.#now = performance.now()
    // Times between two calls are rounded down to the earlier call.
    const slack = this.#now - before
    for (const queue of [this.#queues.opening, this.#queues.returning])
      this.#removeOlder(queue, headerTimeout, late)
    this.#removeOlder(this.#queues.idle, idleTimeout + slack, (connection) => connection.closeIdle())
  }

  #removeOlder(
    queue: Queue<ClientConnection>,
    than: number,
    then: (connection: ClientConnection) => void,
  ): void {
    let { first } = queue
    while (first !== null && this.#now - first.queuedAt > than) {
      queue.remove(first)
      then(first)
      first = queue.first
    }
  }

  /**
   * Closes connections whose client has read nothing of its response for this long. This covers responses of
   * the gateway itself, and responses whose upstream has finished. Called about once a second.
   */
  closeStalled(forMs: number): void {
    const now = performance.now()
    for (const connection of this.#queues.active.all()) {
      if (connection.isUpgraded) continue
      connection.http2?.closeStalled(now, forMs)
      if (now - updateStall(connection, now) > forMs) connection.socket.destroy()
    }
  }

  /**
   * Ends HTTP/2 connections that hold up their streams by a frame or a field block for this long. Called
   * about once a second.
   */
  closeLateBlocks(forMs: number): void {
    const now = performance.now()
    for (const { http2 } of this.#queues.active.all())
      if (http2?.isLate(now, forMs) === true) http2.refuse('a frame or a field block is not complete in time')
  }

  all(): ClientConnection[] {
    return Object.values(this.#queues).flatMap((queue) => queue.all())
  }

  get #size(): number {
    const { opening, active, idle } = this.counts
    return opening + active + idle
  }
}
