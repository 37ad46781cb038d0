/**
 * All connections of the front door, by what they do, and who has to go when there are too many: a client that holds a
 * connection without using it must not keep out one that would.
 */

import { performance } from 'node:perf_hooks'
import type { ClientConnection } from './client-connection.ts'
import { AddressShares } from './address-shares.ts'
import { type Evicted, Eviction } from './eviction.ts'
import { Queue } from './queue.ts'
import { updateStall } from './slow-client.ts'

/** `opening`: no whole header section has come yet. `active`: a request is under way. `idle`: kept for the next one. */
export type ConnectionState = 'opening' | 'active' | 'idle'

export interface ConnectionBounds {
  /** Open at once. */
  readonly connections: number
  /** Of one address. */
  readonly connectionsPerAddress: number
}

/** Which bound there was no room under. */
export type RefusedBy = 'limit' | 'address'

export class Connections {
  readonly #opening = new Queue<ClientConnection>()
  readonly #active = new Queue<ClientConnection>()
  readonly #idle = new Queue<ClientConnection>()
  /** Kept, and a part of the next header section has come. Idle to the world, but not the first to go. */
  readonly #returning = new Queue<ClientConnection>()
  readonly #shares = new AddressShares<ClientConnection>()
  readonly #eviction: Eviction
  #bounds: ConnectionBounds
  /** Monotonic ms of the last look at the clock: it costs too much for each request. */
  #now = performance.now()
  /** Monotonic ms: what is idle for longer has been told to give up what it keeps. */
  #forgottenBefore = -Infinity
  /** The front door ends, and has to know since when a connection is idle. */
  #exactTimes = false

  constructor(bounds: ConnectionBounds, evicted: (state: Evicted) => void) {
    this.#bounds = bounds
    const queues = {
      opening: this.#opening,
      active: this.#active,
      idle: this.#idle,
      returning: this.#returning,
    }
    this.#eviction = new Eviction(queues, this.#shares, evicted)
  }

  /** Those there are stay, whatever the number. */
  configure(bounds: ConnectionBounds): void {
    this.#bounds = bounds
  }

  get counts(): Readonly<Record<ConnectionState, number>> {
    const idle = this.#idle.size + this.#returning.size
    return { opening: this.#opening.size, active: this.#active.size, idle }
  }

  /**
   * @param address of its client; null where many clients share it
   * @returns why there is no room for it; null: it is one of them
   */
  admit(connection: ClientConnection, address: string | null): RefusedBy | null {
    const { connections } = this.#bounds
    if (!this.#hasRoom(address)) return 'address'
    if (this.#size >= connections && !this.#eviction.makeRoom(connections, this.#shares.count(address)))
      return 'limit'
    connection.queuedAt = performance.now()
    this.#opening.add(connection)
    this.#shares.join(connection, address)
    connection.socket.once('close', () => {
      connection.queue?.remove(connection)
      this.#shares.leave(connection)
    })
    return null
  }

  /**
   * Its client is known only now.
   *
   * @returns whether there is room for one more of the address
   */
  identify(connection: ClientConnection, address: string | null): boolean {
    if (!this.#hasRoom(address)) return false
    this.#shares.join(connection, address)
    return true
  }

  #hasRoom(address: string | null): boolean {
    const { connections, connectionsPerAddress } = this.#bounds
    if (address === null || connectionsPerAddress >= connections) return true
    const share = this.#shares.share(address)
    return share === null || share.size < connectionsPerAddress || this.#eviction.makeRoomOf(share)
  }

  /** It has its last answer: others see to its end. */
  remove(connection: ClientConnection): void {
    connection.queue?.remove(connection)
    this.#shares.leave(connection)
  }

  /** A part of a header section has come. */
  headStarted(connection: ClientConnection): void {
    if (connection.queue === this.#idle) this.#move(connection, this.#returning, performance.now())
  }

  /** A whole header section has come. */
  headReceived(connection: ClientConnection): void {
    if (connection.queue !== this.#active) this.#move(connection, this.#active, 0)
  }

  /** An answer is out. */
  becameIdle(connection: ClientConnection): void {
    connection.bytesReadWhenIdle = connection.socket.bytesRead
    this.#move(connection, this.#idle, this.#exactTimes ? performance.now() : this.#now)
  }

  #move(connection: ClientConnection, to: Queue<ClientConnection>, since: number): void {
    if (connection.queue === null) return
    connection.queue.remove(connection)
    connection.queuedAt = since
    to.add(connection)
  }

  /** Those with a request under way. */
  get active(): ClientConnection[] {
    return this.#active.all()
  }

  /**
   * Closes those that wait for a request, and of which nothing has come for this long. One on which a part of a header
   * section has come has the time that a header section has.
   */
  closeIdle(forMs: number): void {
    const now = performance.now()
    for (const connection of [...this.#opening.all(), ...this.#idle.all()])
      if (connection.quiet && now - connection.queuedAt >= forMs) connection.socket.destroySoon()
  }

  /** From now on, time is counted exactly for those that are kept. */
  startClock(): void {
    this.#exactTimes = true
    const now = performance.now()
    for (const connection of [...this.#opening.all(), ...this.#idle.all()]) connection.queuedAt = now
  }

  /**
   * To be called about once a second.
   *
   * @param headerTimeout milliseconds for a header section; who is late is given to `late`
   * @param idleTimeout milliseconds, or a little longer, that an idle connection is kept
   */
  closeLate(headerTimeout: number, idleTimeout: number, late: (connection: ClientConnection) => void): void {
    const before = this.#now
    this.#now = performance.now()
    // Those that were noted between two looks are as old as the first of them says.
    const slack = this.#now - before
    for (const queue of [this.#opening, this.#returning]) this.#removeOlder(queue, headerTimeout, late)
    this.#removeOlder(this.#idle, idleTimeout + slack, ({ socket }) => socket.destroySoon())
    this.#forgetIdle(before)
  }

  /** Tells those that became idle before then, but not so long before that they have been told. */
  #forgetIdle(before: number): void {
    for (
      let each = this.#idle.last;
      each !== null && each.queuedAt >= this.#forgottenBefore;
      each = each.previous
    )
      if (each.queuedAt < before) each.forget()
    this.#forgottenBefore = before
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
   * Cuts those whose client has taken nothing of its answer for this long: also an answer of the gateway's own, or what
   * an upstream has long been done with. To be called about once a second.
   */
  closeStalled(forMs: number): void {
    const now = performance.now()
    for (const connection of this.#active.all())
      if (!connection.isUpgraded && now - updateStall(connection, now) > forMs) connection.socket.destroy()
  }

  /** Those that speak another protocol. */
  *upgraded(): Generator<ClientConnection> {
    for (const connection of this.#active.all()) if (connection.isUpgraded) yield connection
  }

  closeAll(): void {
    for (const queue of [this.#opening, this.#active, this.#idle, this.#returning])
      for (const { socket } of queue.all()) socket.destroy()
  }

  get #size(): number {
    return this.#opening.size + this.#active.size + this.#idle.size + this.#returning.size
  }
}
