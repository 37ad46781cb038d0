/**
 * All connections of the front door, by what they do, and who has to go when there are too many: a client that holds a
 * connection without using it must not keep out one that would. Used by `front.ts`.
 */

import { performance } from 'node:perf_hooks'
import type { Connection } from './connection.ts'
import { Queue } from './queue.ts'
import { behindSince, isSlow } from './slow.ts'

/** `opening`: no whole header section has come yet. `active`: a request is under way. `idle`: kept for the next one. */
export type ConnectionState = 'opening' | 'active' | 'idle'
/** `slow`: active, and all that is under way is a client that takes its time. */
export type Evicted = 'idle' | 'opening' | 'slow'

/** Milliseconds that a connection has for its first header section before another one may have its place. */
const FAIR_WAIT = 1000
/** The share of all connections beyond which those without a header section are an attack, and have no such time. */
const ATTACK_SHARE = 1 / 8

/** Milliseconds between two looks for slow ones. */
const LOOK = 250

export class Connections {
  readonly #opening = new Queue<Connection>()
  readonly #active = new Queue<Connection>()
  readonly #idle = new Queue<Connection>()
  /** Kept, and a part of the next header section has come. Idle to the world, but not the first to go. */
  readonly #returning = new Queue<Connection>()
  readonly #evicted: (state: Evicted) => void
  /** Found by the last look for slow ones, and when that was. */
  #slow: Connection[] = []
  #lookedAt = -Infinity
  #most: number
  /** Monotonic ms of the last look at the clock: it costs too much for each request. */
  #now = performance.now()
  /** Monotonic ms: what is idle for longer has been told to give up what it keeps. */
  #forgotten = -Infinity
  /** The front door ends, and has to know since when a connection is idle. */
  #exact = false

  /** @param most open at once */
  constructor(most: number, evicted: (state: Evicted) => void) {
    this.#most = most
    this.#evicted = evicted
  }

  /** Those there are stay, whatever the number. */
  use(most: number): void {
    this.#most = most
  }

  get counts(): Readonly<Record<ConnectionState, number>> {
    const idle = this.#idle.size + this.#returning.size
    return { opening: this.#opening.size, active: this.#active.size, idle }
  }

  /** @returns false when there is no room, and nobody who could make any */
  admit(connection: Connection): boolean {
    if (this.#size >= this.#most && !this.#makeRoom()) return false
    connection.since = performance.now()
    this.#opening.add(connection)
    connection.socket.once('close', () => connection.queue?.remove(connection))
    return true
  }

  /** A part of a header section has come. */
  beginning(connection: Connection): void {
    if (connection.queue === this.#idle) this.#move(connection, this.#returning, performance.now())
  }

  /** A whole header section has come. */
  begun(connection: Connection): void {
    if (connection.queue !== this.#active) this.#move(connection, this.#active, 0)
  }

  /** An answer is out. */
  answered(connection: Connection): void {
    connection.read = connection.socket.bytesRead
    this.#move(connection, this.#idle, this.#exact ? performance.now() : this.#now)
  }

  #move(connection: Connection, to: Queue<Connection>, since: number): void {
    if (connection.queue === null) return
    connection.queue.remove(connection)
    connection.since = since
    to.add(connection)
  }

  /** Those with a request under way. */
  get active(): Connection[] {
    return this.#active.all()
  }

  /**
   * Closes those that wait for a request, and of which nothing has come for this long. One on which a part of a header
   * section has come has the time that a header section has.
   */
  closeQuiet(forMs: number): void {
    const now = performance.now()
    for (const connection of [...this.#opening.all(), ...this.#idle.all()])
      if (connection.quiet && now - connection.since >= forMs) connection.socket.destroySoon()
  }

  /** From now on, time is counted exactly for those that are kept. */
  startClock(): void {
    this.#exact = true
    const now = performance.now()
    for (const connection of [...this.#opening.all(), ...this.#idle.all()]) connection.since = now
  }

  /**
   * To be called about once a second.
   *
   * @param headerTimeout milliseconds for a header section; who is late is given to `late`
   * @param idleTimeout milliseconds, or a little longer, that an idle connection is kept
   */
  cutLate(headerTimeout: number, idleTimeout: number, late: (connection: Connection) => void): void {
    const before = this.#now
    this.#now = performance.now()
    // Those that were noted between two looks are as old as the first of them says.
    const slack = this.#now - before
    for (const queue of [this.#opening, this.#returning]) this.#takeOlder(queue, headerTimeout, late)
    this.#takeOlder(this.#idle, idleTimeout + slack, ({ socket }) => socket.destroySoon())
    this.#forgetIdle(before)
  }

  /** Tells those that became idle before then, but not so long before that they have been told. */
  #forgetIdle(before: number): void {
    for (let each = this.#idle.last; each !== null && each.since >= this.#forgotten; each = each.before)
      if (each.since < before) each.forget()
    this.#forgotten = before
  }

  #takeOlder(queue: Queue<Connection>, than: number, then: (connection: Connection) => void): void {
    let { first } = queue
    while (first !== null && this.#now - first.since > than) {
      queue.remove(first)
      then(first)
      first = queue.first
    }
  }

  /**
   * Cuts those whose client has taken nothing of its answer for this long: also an answer of the gateway's own, or what
   * an upstream has long been done with. To be called about once a second.
   */
  cutStalled(forMs: number): void {
    const now = performance.now()
    for (const connection of this.#active.all())
      if (!connection.isUpgraded && now - behindSince(connection, now) > forMs) connection.socket.destroy()
  }

  closeAll(): void {
    for (const queue of [this.#opening, this.#active, this.#idle, this.#returning])
      for (const { socket } of queue.all()) socket.destroy()
  }

  get #size(): number {
    return this.#opening.size + this.#active.size + this.#idle.size + this.#returning.size
  }

  #makeRoom(): boolean {
    const victim = this.#attacked
      ? oldest(this.#opening)
      : (oldest(this.#idle) ??
        this.#longest(this.#returning) ??
        this.#longest(this.#opening) ??
        this.#anySlow())
    if (victim === null) return false
    this.#evicted(this.#reasonOf(victim))
    victim.queue?.remove(victim)
    victim.socket.destroy()
    return true
  }

  /** Then it is no time to close what has served its clients well. */
  get #attacked(): boolean {
    return this.#opening.size > this.#most * ATTACK_SHARE
  }

  #reasonOf({ queue }: Connection): Evicted {
    if (queue === this.#active) return 'slow'
    return queue === this.#idle ? 'idle' : 'opening'
  }

  /** All are looked at, so not each time. */
  #anySlow(): Connection | null {
    const now = performance.now()
    if (now - this.#lookedAt > LOOK) {
      this.#lookedAt = now
      this.#slow = this.#active.all().filter((each) => !each.isUpgraded && isSlow(each, now))
    }
    for (let each = this.#slow.pop(); each !== undefined; each = this.#slow.pop())
      if (each.queue === this.#active && isSlow(each, now)) return each
    return null
  }

  #longest(queue: Queue<Connection>): Connection | null {
    const first = oldest(queue)
    return first !== null && performance.now() - first.since > FAIR_WAIT ? first : null
  }
}

/** One that brings something just now is spared: it may be a request, and its sender would not know what became of it. */
function oldest(queue: Queue<Connection>): Connection | null {
  let each = queue.first
  while (each?.hasNews) each = each.after
  return each
}
